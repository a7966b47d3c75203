"""``evomix synth``: the main job."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evomix.cli import options, text_options
from evomix.cli.console import answer, answer_json, warn
from evomix.cli.failures import FailedAfterCharge, Interrupted, fails
from evomix.cli.progress import progress_bars
from evomix.cli.wording import amount, guarantee_line, method_line, plan_lines, release_lines
from evomix.core.errors import EvomixError, SpecError

if TYPE_CHECKING:
    from evomix.experiment.run import Outcome
    from evomix.experiment.spec import RunSpec

_NOTHING = "nothing was charged"
_KEPT = "the texts that were written are kept, and the same command with --resume goes on with them"


def synth(
    private: options.Private = None,
    *,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    public: options.Public = None,
    schema: options.Schema = None,
    out: options.Out = None,
    rows: options.Rows = None,
    method: options.Method = None,
    preset: options.Preset = None,
    mechanism: options.Mechanism = None,
    selection: options.Selection = None,
    threshold: options.Threshold = None,
    radius: options.Radius = None,
    denoising: options.Denoising = None,
    schedule: options.Schedule = None,
    rounds: options.Rounds = None,
    variations: options.Variations = None,
    candidates: options.Candidates = None,
    draws: options.Draws = None,
    proximity: options.Proximity = None,
    accounting: options.Accounting = None,
    target: options.Target = None,
    unit: options.Unit = None,
    modality: options.Modality = None,
    text_column: text_options.TextColumn = None,
    generator: text_options.Generator = None,
    model: text_options.Model = None,
    prompts: text_options.Prompts = None,
    domain: text_options.Domain = None,
    embedder: text_options.Embedder = None,
    base_url: text_options.BaseUrl = None,
    api: text_options.Api = None,
    concurrency: text_options.Concurrency = None,
    timeout_s: text_options.Timeout = None,
    price_in: text_options.PriceIn = None,
    price_out: text_options.PriceOut = None,
    most_cost: text_options.MostCost = None,
    most_tokens: text_options.MostTokens = None,
    config: options.Config = None,
    run_dir: options.RunDir = None,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
    seed: options.Seed = None,
    dry_run: options.DryRun = False,
    dataset: options.Dataset = None,
    budget: options.Budget = None,
    ledger: options.LedgerPath = None,
    encoding: options.Encoding = None,
    public_encoding: options.PublicEncoding = None,
    as_json: options.Json = False,
) -> None:
    """Make a synthetic table, or a set of texts, from PRIVATE under (ε, δ)-differential privacy.

    PRIVATE and --epsilon may also come from --config.
    """
    # The parameters are named as the fields of RunSpec; those not given are left to the file or the defaults.
    given = {name: value for name, value in locals().items() if name not in {"config", "dry_run", "as_json"}}
    with _before_any_charge():
        spec = _spec(config, {name: value for name, value in given.items() if value is not None and value is not False})
        if dry_run:
            _print_plan(spec, as_json=as_json)
            return
    said: list[str] = []

    def say_before_charge(warning: str) -> None:
        said.append(warning)
        warn(warning)

    _print(_synthesize(spec, say_before_charge), spec, said, as_json=as_json)


@contextmanager
def _before_any_charge() -> Iterator[None]:
    """Say of a stop in this block that it cost nothing."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(_NOTHING) from None


def _spec(config: Path | None, given: dict[str, Any]) -> "RunSpec":
    from evomix.experiment.spec import RunSpec, load_toml  # noqa: PLC0415  (--help must not wait for it)

    settings = {**({} if config is None else load_toml(config)), **given}
    for name, words in (("private", "PRIVATE"), ("epsilon", "--epsilon")):
        if name not in settings:
            raise SpecError(f"{words} is missing. See: evomix synth --help")
    return RunSpec.from_mapping(settings)


def _print_plan(spec: "RunSpec", *, as_json: bool) -> None:
    from evomix.experiment.run import dry_run  # noqa: PLC0415

    planned = dry_run(spec)
    for warning in planned["warnings"]:
        warn(warning)
    if as_json:
        answer_json(planned)
    else:
        proposed = [f"{name.lower()}: {value}" for name, value in planned.get("proposed", {}).items()]
        answer("\n".join([*_method_lines(planned), *proposed, *plan_lines(planned)]))


def _method_lines(planned: Mapping[str, Any]) -> Iterator[str]:
    """Yield how rows are found, and what only votes have."""
    yield method_line(planned)
    if planned.get("selection") is not None:
        yield _selection_line(planned)


def _selection_line(planned: Mapping[str, Any]) -> str:
    told = [planned["selection"], f"denoising {planned['denoising']}", f"schedule {planned['schedule']}"]
    if planned["selection"] == "gape":
        radius = "from the candidates" if planned["radius"] is None else f"{planned['radius']:g}"
        told += [f"threshold {planned['threshold']:g} standard deviations of the noise", f"radius {radius}"]
    return f"selection: {', '.join(told)}"


def _synthesize(spec: "RunSpec", warned: Callable[[str], None]) -> "Outcome":
    with _before_any_charge():
        from evomix.experiment.interruption import charged_runs  # noqa: PLC0415
        from evomix.experiment.run import synthesize_to_file  # noqa: PLC0415

        before = charged_runs(spec)
    try:
        with progress_bars() as progress:
            return synthesize_to_file(spec, progress=progress, warned=warned)
    except KeyboardInterrupt:
        raise Interrupted(_what_stays(spec, before)) from None
    except BaseException as error:
        if not fails(error) or (stays := _what_stays(spec, before)) == _NOTHING:
            raise
        raise FailedAfterCharge(error, stays) from error


def _what_stays(spec: "RunSpec", before: frozenset[str]) -> str:
    from evomix.experiment.interruption import keeps_texts, standing_charge  # noqa: PLC0415

    try:
        charge = standing_charge(spec, before)
    except EvomixError:
        return "the ledger cannot be read now; `evomix ledger show` will tell whether the run was charged"
    if charge is None:
        return f"{_NOTHING}; {_KEPT}" if keeps_texts(spec) else _NOTHING
    stays = f"{amount(charge.budget.epsilon, charge.budget.delta)} stays charged"
    if not charge.resumable:
        return f"{stays}; nothing was released yet that --resume could go on from"
    return f"{stays}; the same command with --resume goes on under that charge"


def _print(outcome: "Outcome", spec: "RunSpec", said: Sequence[str], *, as_json: bool) -> None:
    for warning in outcome.warnings:
        if warning not in said:
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
    answer(guarantee_line(privacy))
    for line in release_lines(privacy):
        answer(line)
    for line in _spent(spec, privacy):
        answer(line)
    answer(f"report: {outcome.run_dir / 'report.html'}")


def _spent(spec: "RunSpec", privacy: dict[str, Any]) -> Iterator[str]:
    """Yield what all runs on the data set have cost together."""
    from evomix.privacy.ledger import Ledger  # noqa: PLC0415

    try:
        balance = Ledger(spec.ledger).balance(privacy["dataset"])
    except EvomixError:
        return  # the run is done and charged; that its ledger cannot be read now is told by the next command
    runs = f"{balance.runs} run" if balance.runs == 1 else f"{balance.runs} runs"
    if (balance.unit, balance.adjacency) != (privacy["unit"], privacy["adjacency"]):
        yield f"this data set has now been used in {runs} that do not all protect the same: their costs do not add up"
        return
    granted = balance.granted
    # What was granted is what was typed: rounded up it would promise more than there is.
    limit = "" if granted is None else f" of the granted {amount(granted.epsilon, granted.delta, exact=True)}"
    yield f"this data set has now spent {amount(balance.spent.epsilon, balance.spent.delta)}{limit} in {runs}"
