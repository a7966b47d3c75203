"""A private and a public table, a ledger of its own, and runs in processes that may die."""

import json
import signal

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from evomix.evolution.state import load_state
from evomix.privacy.ledger import Ledger

KILLED = -signal.SIGKILL
ROUNDS, ROWS = 6, 50


class House:
    """A private and a public table, a ledger of its own, and runs in processes that may die."""

    rounds, columns = ROUNDS, 2

    def __init__(self, folder, victims):
        self.folder, self.victims = folder, victims
        self.private, self.public = folder / "private.csv", folder / "public.csv"
        self.out, self.run_dir, self.ledger = folder / "s.csv", folder / "s.run", folder / "ledger.sqlite"
        for path, seed in ((self.private, 1), (self.public, 2)):
            self.table(path, seed)

    def table(self, path, seed):
        rng = np.random.default_rng(seed)
        columns = {"age": rng.integers(0, 90, 300), "region": rng.choice(["north", "south"], 300).tolist()}
        arrow_csv.write_csv(pa.table(columns), path)

    def words(self, *more, out=None, **changes):
        options = {
            "--public": self.public,
            "--epsilon": 0.6,
            "--rows": ROWS,
            "--rounds": ROUNDS,
            "--candidates": 20,
            "--mechanism": "pubmix",
            "--seed": 7,
            "--out": self.out if out is None else out,
            "--ledger": self.ledger,
        } | {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
        return ["synth", self.private, *(word for pair in options.items() for word in pair), *more]

    def spent(self):
        ledger = Ledger(self.ledger)
        return sum(ledger.balance(name).spent.epsilon for name in ledger.datasets())

    def rounds_begun(self):
        return sum(entry.rounds_begun for entry in Ledger(self.ledger).entries())

    def interrupt(self, **changes):
        """Begin a run and kill it after two rounds."""
        assert (
            self.victims.run(self.words(**changes), crash=("evomix.evolution.loop:save_state", "after", 2))[0] == KILLED
        )

    def saved_round(self):
        """Return the last round that was kept, or -1."""
        state = load_state(self.run_dir / "checkpoint")
        return -1 if state is None else state.next_round - 1

    def events(self):
        path = self.run_dir / "events.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line)["round"] for line in lines]

    def check(self):
        """What holds at every moment: releases are charged and begun; the output is whole or absent."""
        entries = Ledger(self.ledger).entries()
        if self.saved_round() >= 0 or self.events():
            run_id = json.loads((self.run_dir / "checkpoint" / "run.json").read_text())["run_id"]
            begun = Ledger(self.ledger).started_rounds(run_id)
            assert run_id in {entry.run_id for entry in entries}
            assert self.saved_round() in begun
            assert set(self.events()) <= begun
            assert self.spent() >= 0.6
        assert len(self.events()) == len(set(self.events()))
        if self.out.exists():
            assert arrow_csv.read_csv(self.out).shape == (ROWS, self.columns)
            assert (self.run_dir / "privacy.json").exists()

    def leftovers(self):
        return [path for path in self.folder.rglob("*") if path.name.endswith((".partial", ".lock"))]

    def resumed(self, mechanism="pubmix", **changes):
        """Return the words that go on with a run."""
        return self.words("--resume", mechanism=mechanism, **changes)

    def finish(self, mechanism="pubmix", **changes):
        """Resume until the run is done; return its privacy.json, or None when there was nothing to go on from."""
        before = self.spent()
        begun = {entry.run_id: entry.rounds_begun for entry in Ledger(self.ledger).entries()}
        code, printed = self.victims.run(self.resumed(mechanism, **changes))
        self.check()
        assert self.spent() == before  # going on costs nothing more
        if code == 2:
            assert "nothing to resume" in printed
            assert not any(begun.values())
            return None
        assert code == 0, printed
        assert self.out.exists()
        assert self.leftovers() == []
        privacy = json.loads((self.run_dir / "privacy.json").read_text())
        assert (privacy["epsilon"], privacy["begun_rounds"]) == (0.6, list(range(self.rounds)))
        return privacy
