"""``evomix synth``: from a specification to files."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evomix.core.arrays import Population
from evomix.core.errors import InputFileError, SpecError
from evomix.experiment import artifacts
from evomix.experiment.design import design, make_plan
from evomix.experiment.engine import run
from evomix.experiment.finished import Finished
from evomix.experiment.folder_lock import exclusive
from evomix.experiment.inputs import Progress, open_inputs
from evomix.experiment.method_choice import OF_VOTES
from evomix.experiment.plans import Plan
from evomix.experiment.rehearsal import budget_warnings, check_places, refuse_file, refuse_to_replace, total_warnings
from evomix.experiment.selecting import resolved, selection_of, with_rounds
from evomix.experiment.spec import RunSpec
from evomix.formats.atomic import check_writable, write_text
from evomix.formats.table import check_output, write_table
from evomix.privacy.budget import Budget
from evomix.privacy.ledger import Ledger
from evomix.reports.html import ReportContext, render_report


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run made.

    Attributes:
        out: the synthetic table.
        rows: records in it.
        run_dir: folder with privacy.json, spec.toml, report.html, events.jsonl, checkpoint/.
        privacy: the content of privacy.json.
        plan: the plan as it was calibrated.
        warnings: sentences for the user.
    """

    out: Path
    rows: int
    run_dir: Path
    privacy: dict[str, Any]
    plan: dict[str, Any]
    warnings: tuple[str, ...]


def synthesize_to_file(
    spec: RunSpec, *, progress: Progress | None = None, warned: Callable[[str], None] | None = None
) -> Outcome:
    """Do the main job: write the synthetic table and the run folder.

    Files appear whole, and only when the run is done; whether they can be written is checked before anything is
    charged.

    Args:
        spec: what to do.
        progress: told about each stage.
        warned: told each warning that is known before anything is charged; the outcome has them too.

    Raises:
        EvomixError: as the stages say; what was charged stays charged.
    """
    folder_was_named = spec.run_dir is not None
    spec = with_paths(spec)
    assert spec.out is not None
    assert spec.run_dir is not None
    check_output(spec.out)
    make_folder(spec.run_dir)
    check_writable(spec.run_dir / artifacts.PRIVACY_FILE)
    report = progress or (lambda _stage, _done, _total: None)
    with exclusive(spec.run_dir):
        if not folder_was_named and not spec.resume:
            _refuse_another_tables_folder(spec.run_dir, spec.out)
        refuse_to_replace(spec)
        interrupted = not spec.resume and _is_interrupted(spec.run_dir)
        finished = run(spec, folder=spec.run_dir, progress=report, warned=warned)
        warnings = finished.warnings
        if interrupted:
            warnings += (
                f"{spec.run_dir} held an interrupted run; its charge stays spent (--resume would have gone on with it)",
            )
        report("writing", 0, 1)
        population = finished.sample(spec.rows, 0)
        warnings += finished.inputs.modality.remarks(population)
        told = replace(finished, warnings=warnings)
        # The report speaks of a table that is there: both appear at the end, neither when the other cannot.
        write_table(
            finished.inputs.modality.codec.decode(population),
            spec.out,
            before=lambda: _write_folder(told, population, spec),
        )
        report("writing", 1, 1)
    return Outcome(
        spec.out,
        spec.rows,
        spec.run_dir,
        finished.privacy,
        finished.design.plan.to_dict(),
        warnings + total_warnings(spec, finished.privacy),
    )


def dry_run(spec: RunSpec) -> dict[str, Any]:
    """Return the plan of a run: nothing is charged, no record votes, no file is written, not for a moment.

    Raises:
        EvomixError: what is known by then to stop the run; but that the ledger would refuse it is a warning.
    """
    grant = None if spec.budget is None else Budget.parse(spec.budget)
    check_places(spec if spec.out is None and not isinstance(spec.private, str | Path) else with_paths(spec))
    inputs = open_inputs(spec, check_cells=False)
    planned = make_plan(spec, inputs)
    if any(one.mechanism == "pubmix" for one in planned.per_round):
        # Its share of noise rests on the public votes.
        planned = design(spec, inputs, np.random.default_rng(spec.seed or 0)).plan
    spec = replace(spec, method=planned.method)
    used: dict[str, Any] = {}
    if planned.method == "votes":
        chosen = with_rounds(resolved(spec, inputs.modality), planned.rounds, inputs.modality)
        used = {name: getattr(chosen, name) for name in ("denoising", "schedule", "threshold", "radius")}
        used["selection"] = selection_of(spec, inputs.modality)
    return planned.to_dict() | {
        "proposed": dict(inputs.modality.made()),
        **used,
        "warnings": [*inputs.warnings, *planned.warnings, *budget_warnings(spec, planned, grant)],
        "ledger": str(Ledger(spec.ledger).path),
    }


def write_report(finished: Finished, population: Population, path: Path) -> None:
    """Write the self-contained report of a run."""
    folder = finished.spec.run_dir
    modality = finished.inputs.modality
    columns, synthetic = modality.charted(population)
    context = ReportContext(
        title="Synthetic data report",
        privacy=finished.privacy,
        columns=columns,
        synthetic=synthetic,
        reference=None if modality.public is None else modality.charted(modality.public)[1],
        reference_name="public data",
        made_up=sum(column.type == "id" for column in finished.inputs.schema.columns),
        rounds=() if folder is None else artifacts.read_rounds(folder),
        warnings=finished.warnings,
        spec_toml=_resolved(finished),
        width=len(finished.inputs.schema.modelled),
        examples=modality.examples(population),
        generation=modality.made(),
        evaluation=None,
    )
    write_text(path, render_report(context))


def _resolved(finished: Finished) -> str:
    """Return the whole resolved run as TOML."""
    plan = finished.design.plan
    settings = finished.spec.public_settings() | {"delta": plan.delta, "mechanism": plan.mechanism}
    if plan.method == "marginals":
        settings = {name: value for name, value in settings.items() if name not in OF_VOTES}
    else:
        settings |= {
            "selection": finished.design.selection,
            "rounds": plan.rounds,
            "variations": plan.variations,
            "candidates": _candidates(plan),
        }
    if plan.draws:
        settings["draws"] = sum(plan.draws)
    return artifacts.to_toml(settings)


def _candidates(plan: Plan) -> int | list[int]:
    """Return the most candidates of a round: one number, or one a round where they differ."""
    most = [one.candidates for one in plan.per_round]
    return most[0] if len(set(most)) == 1 else most


def _write_folder(finished: Finished, population: Population, spec: RunSpec) -> None:
    assert spec.run_dir is not None
    write_text(spec.run_dir / artifacts.SPEC_FILE, _resolved(finished))
    write_report(finished, population, spec.run_dir / artifacts.REPORT_FILE)
    artifacts.write_json(spec.run_dir / artifacts.PRIVACY_FILE, finished.privacy)


def with_paths(spec: RunSpec) -> RunSpec:
    """Return ``spec`` with OUT and RUN_DIR filled in.

    Raises:
        SpecError: OUT has no name, or is the private file.
    """
    out = spec.out
    if out is None:
        if not isinstance(spec.private, str | Path):
            raise SpecError("out is missing: name the file to write (--out)")
        out = Path(Path(spec.private).stem + ".synthetic.csv")
    run_dir = out.with_suffix(".run") if spec.run_dir is None else spec.run_dir
    if isinstance(spec.private, str | Path) and Path(spec.private).resolve() == out.resolve():
        raise SpecError("out is the private file itself; name another file (--out)")
    return replace(spec, out=out, run_dir=run_dir)


def make_folder(folder: Path) -> None:
    """Make the run folder, before anything is charged.

    Raises:
        EvomixError: it is no folder or cannot be written to.
    """
    refuse_file(folder)
    check_writable(folder / "x") if folder.exists() else check_writable(folder)
    folder.mkdir(parents=True, exist_ok=True)


def _refuse_another_tables_folder(folder: Path, out: Path) -> None:
    """Raise ``SpecError`` when the folder holds the report and the state of a run that made another table."""
    if not artifacts.has_run(folder):
        return
    with suppress(InputFileError):  # what is damaged belongs to nobody
        made = artifacts.load_run(folder)
        if made is not None and made.get("out") not in (None, str(out.resolve())):
            raise SpecError(
                f"run_dir={str(folder)!r} belongs to another table, {Path(made['out']).name!r}; name another "
                "(--run-dir)"
            )


def _is_interrupted(folder: Path) -> bool:
    return artifacts.has_run(folder) and not (folder / artifacts.PRIVACY_FILE).exists()
