"""``evomix plan``: what a run would cost and lose, before any private record is opened."""

from pathlib import Path
from typing import Annotated, Any

import typer

from evomix.cli import options
from evomix.cli.console import answer, answer_json, warn
from evomix.cli.numbers import parse_whole
from evomix.cli.plan_counts import HINT, Table
from evomix.cli.wording import method_line, plan_lines
from evomix.core.errors import SpecError

OBJECTIVES = ("draws", "estimate")  # the planner checks them, and a test keeps the two equal
_OF_ALL = ("delta", "rows", "informed", "trade_off")  # of counts as of votes, or of how a plan is shown


def plan(
    *,
    n: Annotated[int, typer.Option("--n", parser=parse_whole, metavar="N", help="Number of private units.")],
    epsilon: options.RequiredEpsilon,
    delta: options.Delta = None,
    rows: options.Rows = None,
    method: options.Method = None,
    schema: options.Schema = None,
    target: options.Target = None,
    rounds: options.Rounds = None,
    candidates: options.Candidates = None,
    preset: options.Preset = None,
    mechanism: options.Mechanism = None,
    draws: options.Draws = None,
    proximity: options.Proximity = None,
    accounting: options.Accounting = None,
    public_histogram: Annotated[
        list[Path] | None,
        typer.Option(
            "--public-histogram",
            metavar="FILE.json",
            help="Shares of the public votes: a JSON list, or a list of lists (diagnose --histogram-out writes it).",
        ),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective",
            metavar="|".join(OBJECTIVES),
            autocompletion=lambda: list(OBJECTIVES),
            help="What shall be near the votes: draws, or the estimate made of them (default, with a run's noise).",
        ),
    ] = None,
    public: Annotated[
        bool | None,
        typer.Option(
            "--public/--no-public",
            help="Whether public rows will be at hand (default: only with a public histogram or pubmix).",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE.svg", help="Draw noise against draws and candidates."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say what a run would cost and lose; no private record is opened, nothing is spent.

    Tables are counted unless votes are asked for; what is counted follows from --schema. Without it votes are planned.
    """
    from evomix.experiment.histogram_file import read_histograms  # noqa: PLC0415
    from evomix.experiment.planning import plan as make_plan  # noqa: PLC0415  (--help must not wait for it)

    given: dict[str, Any] = {
        "delta": delta,
        "rows": rows,
        "rounds": rounds,
        "candidates": candidates,
        "preset": preset,
        "mechanism": mechanism,
        "draws": draws,
        "proximity": proximity,
        "accounting": accounting,
        "public_histogram": read_histograms(public_histogram or []),
        "objective": objective,
        "informed": public,
        "trade_off": True if as_json or plot is not None else None,
    }
    if public is False and (public_histogram or "pubmix" in (mechanism or preset or "")):
        raise SpecError("--no-public contradicts --public-histogram and --mechanism pubmix, which rest on public rows")
    chosen = {name: value for name, value in given.items() if value is not None}
    table = Table(method or "auto", schema, target)
    of_votes = [name for name in chosen if name not in _OF_ALL and given[name] != "auto"]
    of_votes += [] if plot is None else ["plot"]
    if table.counted(of_votes, n=n, epsilon=epsilon, delta=delta):
        _print(table.plan(n=n, epsilon=epsilon, delta=delta, rows=rows), None, as_json=as_json)
        return
    chosen |= table.possible()
    if plot is None:
        shown = make_plan(n=n, epsilon=epsilon, **chosen).to_dict()
    else:
        from evomix.experiment.trade_off_plot import check_plot, write_plot  # noqa: PLC0415

        check_plot(plot)
        planned = make_plan(n=n, epsilon=epsilon, **chosen)
        write_plot(planned, plot)
        shown = planned.to_dict()
    _print(shown, _assumption(public, mechanism=shown["mechanism"], given=given), as_json=as_json)
    if method is None and schema is None and not of_votes and not as_json:
        answer(f"note: {HINT}")
    if plot is not None and not as_json:
        answer(f"plot: {plot}")


def _print(shown: dict[str, Any], public: str | None, *, as_json: bool) -> None:
    for warning in shown["warnings"]:
        warn(warning)
    if as_json:
        answer_json(shown)
    else:
        answer("\n".join([method_line(shown), *plan_lines(shown, public=public)]))


def _assumption(public: bool | None, *, mechanism: str, given: dict[str, Any]) -> str:
    if public is None:
        if "pubmix" in mechanism:
            return "assumed at hand, for pubmix"
        if given["public_histogram"] is not None:
            return "assumed at hand, as the histogram's"
        return "assumed none (--public if there will be)"
    return "assumed at hand (--public)" if public else "assumed none (--no-public)"
