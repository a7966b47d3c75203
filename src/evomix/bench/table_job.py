"""One result of a table benchmark in a process of its own.

    python -m evomix.bench.table_job FOLDER

What a method takes compares only so: the memory of a process holds what every earlier method left, and only a process
can be stopped when its time is over. FOLDER holds ``job.json``; the process adds ``table.parquet`` and ``answer.json``.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

import evomix
from evomix.bench.catalog import Entry, entry
from evomix.bench.contest import Made, made_here
from evomix.bench.cost import Cost
from evomix.bench.methods import TABLE_METHODS
from evomix.bench.rivals.registry import find_rival, load_rival
from evomix.bench.rivals.task import TableTask
from evomix.bench.table_set import TableSet
from evomix.bench.table_sets import read_table_set
from evomix.core import errors
from evomix.core.errors import EnvironmentFailure, EvomixError, SpecError
from evomix.experiment.presets import preset_settings

JOB, TABLE, ANSWER = "job.json", "table.parquet", "answer.json"
_KILLED: Final = -9
_NO_PUBLIC: Final = "needs public records"
_AS_DEFAULT: Final = "as default, which has no public records either"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A result to be made.

    Attributes:
        bench: name of the benchmark.
        data: folder of its files.
        method: name of the method.
        epsilon, delta: the budget of the whole run.
        rows: synthetic records.
        seed: of the public randomness of evomix, of all randomness of a rival.
        ledger: file that a run of evomix is charged to.
        settings: more settings of a run of evomix.
    """

    bench: str
    data: str
    method: str
    epsilon: float
    delta: float
    rows: int
    seed: int
    ledger: str
    settings: Mapping[str, Any]


def unable_to(method: str, parts: TableSet) -> str:
    """Return why a method cannot do a set, as far as its description says; empty where it can."""
    if parts.public is not None:
        return ""
    rival = find_rival(method)
    if rival is not None:
        return _NO_PUBLIC if rival.needs_public else ""
    settings = _settings_of(method)
    if "public" in settings:
        return _AS_DEFAULT
    return _NO_PUBLIC if settings.get("mechanism") == "pubmix" else ""


def do(job: Job, parts: TableSet) -> Made:
    """Return what comes of a job, in this process.

    A method that refuses its settings, all of which were checked before, is one that cannot do this table: because of
    its domain, say. The reason is its message.

    Raises:
        EvomixError: anything else that goes wrong.
    """
    if reason := unable_to(job.method, parts):
        return Made(None, unable=reason)
    rival = find_rival(job.method)
    try:
        if rival is None:
            return made_here(lambda: _run_of_evomix(job, parts))
        make, task = load_rival(rival), _task(job, parts)
        return made_here(lambda: make(task))
    except SpecError as error:
        return Made(None, unable=str(error))


def _settings_of(method: str) -> dict[str, Any]:
    chosen = TABLE_METHODS[method]
    return {**chosen, **preset_settings(chosen.get("preset"))}


def run_settings(job: Job, parts: TableSet) -> dict[str, Any]:
    """Return the settings of a run of evomix, but its private table and ε."""
    return {
        "delta": job.delta,
        "schema": parts.schema,
        "public": parts.public,
        "target": parts.target,
        "unit": parts.unit,
        "rows": job.rows,
        "seed": job.seed,
        "ledger": job.ledger,
        **job.settings,
        **TABLE_METHODS[job.method],
    }


def _run_of_evomix(job: Job, parts: TableSet) -> pa.Table:
    made = evomix.synthesize(parts.private, epsilon=job.epsilon, **run_settings(job, parts))
    return pa.Table.from_pandas(made.table, preserve_index=False)


def _task(job: Job, parts: TableSet) -> TableTask:
    return TableTask(
        private=parts.one_row_a_unit(job.seed),
        public=parts.public,
        schema=parts.schema,
        target=parts.target,
        epsilon=job.epsilon,
        delta=job.delta,
        rows=job.rows,
        seed=job.seed,
    )


def do_apart(job: Job, folder: Path, *, time_limit_s: float | None) -> Made:
    """Return what comes of a job, made by a process of its own; one that is over its time is stopped.

    Raises:
        EvomixError: as :func:`do`.
        EnvironmentFailure: the process died, as one does that is killed for its memory.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in (TABLE, ANSWER):
        (folder / name).unlink(missing_ok=True)
    (folder / JOB).write_text(json.dumps(asdict(job)), encoding="utf-8")
    command = [sys.executable, "-m", __name__, str(folder)]
    # A session of its own: what the process starts is stopped with it.
    none = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=none, stdout=none, start_new_session=True) as process:  # noqa: S603  (ours)
        try:
            code = process.wait(time_limit_s)
        except subprocess.TimeoutExpired:
            assert time_limit_s is not None
            return Made(None, unable=f"over {time_limit_s:g} s", over_s=time_limit_s)
        finally:
            if process.poll() is None:
                _stop(process)
    return _answer(job, folder, code)


def _stop(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)


def _answer(job: Job, folder: Path, code: int) -> Made:
    path = folder / ANSWER
    if not path.exists():
        raise EnvironmentFailure(
            f"method={job.method!r} at epsilon={job.epsilon:g}, seed={job.seed}: its process ended without an answer, "
            f"with code={code}" + ("; was it killed for its memory?" if code == _KILLED else "")
        )
    answer = json.loads(path.read_text(encoding="utf-8"))
    if "error" in answer:
        raise getattr(errors, answer["error"], EnvironmentFailure)(answer["message"])
    table = None if answer["unable"] else pq.read_table(folder / TABLE)
    return Made(table, Cost(**answer["cost"]), answer["unable"])


def main(folder: Path) -> None:
    """Do the job that ``folder`` holds, and leave the answer there."""
    job = Job(**json.loads((folder / JOB).read_text(encoding="utf-8")))
    try:
        known: Entry = entry(job.bench)
        made = do(job, read_table_set(known, job.data))
    except EvomixError as error:
        answer: dict[str, Any] = {"error": type(error).__name__, "message": f"method={job.method!r}: {error}"}
    else:
        if made.table is not None:
            pq.write_table(made.table, folder / TABLE)
        answer = {"cost": asdict(made.cost), "unable": made.unable}
    (folder / ANSWER).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
