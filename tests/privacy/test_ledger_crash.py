"""A killed process never takes back a charge that was acknowledged, nor leaves half of one.

Proof: docs/proofs/ledger.md.
"""

import os
import random
import signal
import subprocess
import sys
import time

from evomix.privacy.ledger import Ledger

KILLS = 10

# One parent that has imported everything forks the victims, so that a kill lands inside the transactions.
VICTIMS = """
import os, sys
from evomix.privacy.ledger import Budget, Ledger

ledger, kills = Ledger(sys.argv[1]), int(sys.argv[2])
for victim in range(kills):
    child = os.fork()
    if child == 0:
        os.write(1, f"pid {os.getpid()}\\n".encode())
        turn = 0
        while True:
            run = f"{victim}-{turn}"
            ledger.open_run(run, "adult", Budget(0.1, 1e-9), fingerprint=b"x", spec_digest="s")
            os.write(1, f"charged {run}\\n".encode())
            ledger.begin_round(run, 0)
            os.write(1, f"begun {run}\\n".encode())
            turn += 1
    os.waitpid(child, 0)
"""


def _wait_for(log, parent, victim, *, acknowledged):
    """Return the process of a victim, once it has acknowledged so many charges and rounds."""
    while True:
        assert parent.poll() is None
        lines = log.read_text().splitlines()
        pids = [line.split()[1] for line in lines if line.startswith("pid ")]
        done = sum(line.split()[1].startswith(f"{victim}-") for line in lines if not line.startswith("pid "))
        if len(pids) > victim and done >= acknowledged:
            return int(pids[victim])
        time.sleep(0.001)


def test_killed_at_random_moments_the_ledger_keeps_what_it_acknowledged(tmp_path):
    path, log = tmp_path / "ledger.sqlite", tmp_path / "log"
    rng = random.Random(7)
    with log.open("wb") as out:
        parent = subprocess.Popen([sys.executable, "-c", VICTIMS, path, str(KILLS)], stdout=out)
    for victim in range(KILLS):
        # Let it acknowledge a few things, then strike somewhere inside the next ones.
        pid = _wait_for(log, parent, victim, acknowledged=rng.randint(0, 12))
        time.sleep(rng.uniform(0.0, 0.006))
        os.kill(pid, signal.SIGKILL)
    assert parent.wait(60) == 0

    lines = log.read_text().splitlines()
    charged = {line.split()[1] for line in lines if line.startswith("charged ")}
    begun = {line.split()[1] for line in lines if line.startswith("begun ")}
    entries = Ledger(path).entries()
    kept = {entry.run_id for entry in entries}
    assert len(begun) >= KILLS
    assert charged <= kept
    assert begun <= {entry.run_id for entry in entries if entry.rounds_begun == 1}
    # A kill between commit and acknowledgement may leave one more charge a victim, never one fewer.
    assert len(kept - charged) <= KILLS
    balance = Ledger(path).balance("adult")
    assert balance.runs == len(kept)
    assert balance.spent.epsilon == round(0.1 * len(kept), 6)
