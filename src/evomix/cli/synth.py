"""``evomix synth``: the main job."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evomix.cli import options
from evomix.cli.console import answer, answer_json, answer_mapping, say, warn
from evomix.cli.progress import progress_bars

if TYPE_CHECKING:
    from evomix.experiment.run import Outcome
    from evomix.experiment.spec import RunSpec


def synth(
    private: options.Private = None,
    *,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    public: options.Public = None,
    schema: options.Schema = None,
    out: options.Out = None,
    rows: options.Rows = None,
    mechanism: options.Mechanism = None,
    selection: options.Selection = None,
    rounds: options.Rounds = None,
    variations: options.Variations = None,
    candidates: options.Candidates = None,
    draws: options.Draws = None,
    proximity: options.Proximity = None,
    target: options.Target = None,
    unit: options.Unit = None,
    modality: options.Modality = None,
    config: options.Config = None,
    run_dir: options.RunDir = None,
    resume: options.Resume = False,
    seed: options.Seed = None,
    dry_run: options.DryRun = False,
    dataset: options.Dataset = None,
    budget: options.Budget = None,
    ledger: options.LedgerPath = None,
    encoding: options.Encoding = None,
    public_encoding: options.PublicEncoding = None,
    as_json: options.Json = False,
) -> None:
    """Make a synthetic table from PRIVATE under (ε, δ)-differential privacy.

    PRIVATE and --epsilon may also come from --config.
    """
    # The parameters are named as the fields of RunSpec; those not given are left to the file or the defaults.
    given = {name: value for name, value in locals().items() if name not in {"config", "dry_run", "as_json"}}
    spec = _spec(config, {name: value for name, value in given.items() if value is not None and value is not False})
    if dry_run:
        from evomix.experiment.run import dry_run as plan_run  # noqa: PLC0415

        answer_mapping(plan_run(spec), as_json=as_json)
        return
    _print(_synthesize(spec), as_json=as_json)


def _spec(config: Path | None, given: dict[str, Any]) -> "RunSpec":
    from evomix.experiment.spec import RunSpec, load_toml  # noqa: PLC0415  (--help must not wait for it)

    return RunSpec.from_mapping({**({} if config is None else load_toml(config)), **given})


def _synthesize(spec: "RunSpec") -> "Outcome":
    from evomix.experiment.run import synthesize_to_file  # noqa: PLC0415

    try:
        with progress_bars() as progress:
            return synthesize_to_file(spec, progress=progress)
    except KeyboardInterrupt:
        say("what was charged stays charged; the same command with --resume goes on under that charge.")
        raise


def _print(outcome: "Outcome", *, as_json: bool) -> None:
    for warning in outcome.warnings:
        warn(warning)
    privacy = dict(outcome.privacy)
    if as_json:
        answer_json(
            {
                "out": outcome.out,
                "rows": outcome.rows,
                "run_dir": outcome.run_dir,
                "privacy": privacy,
                "plan": outcome.plan,
                "warnings": outcome.warnings,
            }
        )
        return
    answer(f"{outcome.rows} rows in {outcome.out}")
    stamp = "" if privacy.get("private", True) else "NOT PRIVATE: "
    answer(
        f"{stamp}epsilon={privacy['epsilon']!r} delta={privacy['delta']!r} "
        f"({privacy['adjacency']}, unit: {privacy['unit']}, mechanism: {privacy['mechanism']})"
    )
    answer(f"report: {outcome.run_dir / 'report.html'}")
