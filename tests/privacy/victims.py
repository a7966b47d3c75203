"""Runs of the command in processes that may be killed: one parent imports everything and forks them."""

import json
import subprocess
import sys

SERVER = '''
import importlib, json, os, signal, sys
import numpy as np
import evomix.cli.evaluate, evomix.experiment.run
from evomix.cli.app import main
from evomix.privacy.calibration import mixing_weight
from evomix.privacy.lattice_noise import add_gaussian

# Compiled code and the noise library are loaded once for all children.
mixing_weight(1.0, 1e-6, n=100, draws=100, floor=0.1)
add_gaussian(np.zeros(1, np.int64), stddev=1.0)

def crash(place, when, call):
    """Make the process kill itself before or after a call of ``module:owner.name``."""
    module, path = place.split(":")
    *owners, name = path.split(".")
    owner = importlib.import_module(module)
    for step in owners:
        owner = getattr(owner, step)
    real, calls = getattr(owner, name), []
    def dying(*arguments, **settings):
        calls.append(name)
        if when == "before" and len(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = real(*arguments, **settings)
        if when == "after" and len(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer
    setattr(owner, name, dying)

for line in iter(sys.stdin.readline, ''):
    children = []
    for order in json.loads(line):
        child = os.fork()
        if child == 0:
            log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(log, 1)
            os.dup2(log, 2)
            if order["crash"]:
                crash(*order["crash"])
            code = main(order["words"])
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        children.append(child)
    print(json.dumps(children), flush=True)
    sys.stdin.readline()  # until asked for, a child that ended keeps its number
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]), flush=True)
'''


class Victims:
    """A parent that forks runs on request."""

    def __init__(self, folder):
        self._folder, self._logs = folder, []
        self._parent = subprocess.Popen(
            [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, *runs, crash=None):
        """Start commands at once; return their process ids."""
        self._logs = [self._folder / f"log-{number}" for number in range(len(runs))]
        orders = [
            {"words": [str(word) for word in words], "log": str(log), "crash": crash}
            for words, log in zip(runs, self._logs, strict=True)
        ]
        self._parent.stdin.write(json.dumps(orders) + "\n")
        self._parent.stdin.flush()
        return json.loads(self._parent.stdout.readline())

    def wait(self):
        """Return [(exit code, what was printed)] of the commands that were started; negative: killed by that signal."""
        self._parent.stdin.write("wait\n")
        self._parent.stdin.flush()
        codes = json.loads(self._parent.stdout.readline())
        return [(code, log.read_text()) for code, log in zip(codes, self._logs, strict=True)]

    def run(self, words, *, crash=None):
        """Run one command; return (exit code, what was printed)."""
        self.start(words, crash=crash)
        return self.wait()[0]

    def close(self):
        self._parent.stdin.close()
        self._parent.stdout.close()
        self._parent.wait(30)
