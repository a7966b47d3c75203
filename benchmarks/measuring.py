"""What the benchmarks share: time, memory of a child process, and Markdown results."""

import io
import json
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

# A child's peak memory is at least its parent's when it was started, so a parent of a few MiB stands in between.
_STARTER = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.call(sys.argv[1:], stdout=sys.stderr)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process took; ``output`` is all that it printed."""

    wall_s: float
    cpu_s: float
    peak_mib: float
    output: str


def run_process(command: Sequence[str], **environment: str) -> Cost:
    """Run ``command`` to its end and return its cost; its failure is this one's."""
    done = subprocess.run(
        [sys.executable, "-IS", "-c", _STARTER, *command],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | environment,
    )
    code, wall_s, cpu_s, peak = json.loads(done.stdout)
    if code:
        raise SystemExit(f"{' '.join(command)} ended with exit code {code}:\n{done.stderr}")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return Cost(wall_s, cpu_s, peak / unit, done.stderr)


def timed(work: Callable[[], Any], repeats: int = 3) -> tuple[Any, float]:
    """Return the answer of ``work`` and its least CPU time over ``repeats`` runs, seconds."""
    least = math.inf
    for _ in range(repeats):
        start = time.process_time()
        answer = work()
        least = min(least, time.process_time() - start)
    return answer, least


def mean_sd(values: Sequence[float], digits: int = 3) -> str:
    """Return "mean ± s.d." (n - 1 in the denominator)."""
    mean = sum(values) / len(values)
    if len(values) == 1:
        return f"{mean:.{digits}f}"
    sd = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return f"{mean:.{digits}f} ± {sd:.{digits}f}"


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def publish(name: str, *parts: str, command: str) -> None:
    """Print the parts and keep them in results/``name``.md, with the command, the day and the machine."""
    text = "\n\n".join(parts)
    print(text)
    _keep(name, command, text)


@contextmanager
def printed(name: str, *, command: str) -> Iterator[None]:
    """Keep all that is printed inside in results/``name``.md as well."""
    lines = io.StringIO()
    with redirect_stdout(lines):
        yield
    print(lines.getvalue(), end="")
    _keep(name, command, f"```text\n{lines.getvalue()}```")


def _keep(name: str, command: str, text: str) -> None:
    RESULTS.mkdir(exist_ok=True)
    made = f"`{command}`, {datetime.now(UTC):%Y-%m-%d}, {_machine()}."
    (RESULTS / f"{name}.md").write_text(f"{made}\n\n{text}\n", encoding="utf-8")


def _machine() -> str:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores ({_processor()}), Python {platform.python_version()}, other work on the machine"


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()
