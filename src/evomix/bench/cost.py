"""What a result took: wall and CPU seconds, and memory."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROCESS: Final = Path("/proc/self")
"""Where Linux tells of this process; other systems cannot say how much memory a part of it took."""


@dataclass(slots=True)
class Cost:
    """What a block of code took; filled in when it ends.

    Attributes:
        wall_s: seconds on the clock; None where they are not known.
        cpu_s: seconds of all cores, of this process alone; None where they are not known.
        peak_mb: most memory that the process held meanwhile, in 10⁶ bytes; None where it cannot be told.
    """

    wall_s: float | None = None
    cpu_s: float | None = None
    peak_mb: float | None = None


@contextmanager
def measured() -> Iterator[Cost]:
    """Yield what the block takes."""
    cost = Cost()
    watched = _forget_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    yield cost
    cost.wall_s, cost.cpu_s = time.perf_counter() - wall, time.process_time() - cpu
    cost.peak_mb = _peak_mb() if watched else None


def _forget_peak() -> bool:
    with suppress(OSError):
        (_PROCESS / "clear_refs").write_text("5", encoding="ascii")
        return True
    return False


def _peak_mb() -> float | None:
    with suppress(OSError):
        for line in (_PROCESS / "status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    return None
