"""One process at a time in a run folder."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evomix.core.errors import SpecError

if sys.platform != "win32":
    import fcntl

_LOCK_FILE = ".lock"


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold ``folder`` for this process; a killed process lets go of it.

    Two runs in one folder would mix their states; the ledger alone already keeps a round from being released twice.

    Raises:
        SpecError: another process holds it.
    """
    if sys.platform == "win32":
        yield
        return
    lock = folder / _LOCK_FILE
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The last holder removes the file; whoever opened it before that holds a lock nobody else can see.
            held = os.path.samestat(os.fstat(file.fileno()), lock.stat())
        except OSError:
            held = False
        if not held:
            raise SpecError(f"run_dir={str(folder)!r} is in use by another run; name another (--run-dir)")
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
            with suppress(OSError):  # a run that was refused leaves no empty folder behind
                folder.rmdir()
