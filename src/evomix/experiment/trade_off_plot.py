"""The trade-off curve as a plot. Public figures only; costs no privacy."""

from pathlib import Path
from typing import Final

from evomix.core.errors import SpecError
from evomix.experiment.plans import Plan
from evomix.experiment.trade_off import TradeOff
from evomix.formats.atomic import check_place, write_text
from evomix.reports.line_chart import Series, line_chart
from evomix.reports.wording import bound

MOST_CURVES: Final = 6
"""More cannot be told apart."""


def check_plot(path: Path) -> None:
    """Refuse a file that cannot take the plot, before the curve is worked out.

    Raises:
        SpecError: the name does not end in .svg, or no file can be made there.
    """
    if path.suffix.lower() != ".svg":
        raise SpecError(f"the plot is SVG; found plot={str(path)!r}. Name a file that ends in .svg")
    check_place(path)


def write_plot(planned: Plan, path: Path) -> None:
    """Write the worst-case distance of draws against their number, a curve for each number of candidates.

    Raises:
        SpecError: the plan has no curve: no round draws, or it was not asked for.
        EnvironmentFailure: the disk refuses.
    """
    if not planned.trade_off:
        raise SpecError(
            f"the plot shows draws against candidates; mechanism={planned.mechanism!r} draws nothing. "
            "Leave it out, or plan linmix or pubmix"
        )
    check_plot(path)
    write_text(path, draw(planned, planned.trade_off))


def draw(planned: Plan, curve: tuple[TradeOff, ...]) -> str:
    """Return the plot as SVG."""
    every = sorted({point.candidates for point in curve})
    planned_here = [
        point for point in curve if (point.draws, point.candidates) == (sum(planned.draws), planned.candidates)
    ]
    own = {point.candidates for point in planned_here}
    sizes = sorted(own | set([size for size in every if size not in own][len(own) - MOST_CURVES :]))
    points = {size: [point for point in curve if point.candidates == size] for size in sizes}
    series = [
        Series(
            f"{size:,} candidates",
            [point.draws for point in points[size]],
            [point.worst_case_tv for point in points[size]],
            marker=True,
        )
        for size in sizes
    ]
    if planned_here:
        series.append(
            Series(
                "the plan",
                [point.draws for point in planned_here],
                [point.worst_case_tv for point in planned_here],
                marker=True,
                large=True,
            )
        )
    ball = "any votes" if planned.proximity is None else f"votes within {_gamma(planned)} of the public ones"
    return line_chart(
        series,
        title="More draws and more candidates need more noise",
        x_label="draws over all rounds",
        y_label="worst-case distance of draws from votes (total variation)",
        log_x=True,
        note=(
            f"n = {planned.n:,}, ε = {bound(planned.epsilon)}, δ = {bound(planned.delta)} ({planned.adjacency}), "
            f"worst case over {ball}. The plan: {sum(planned.draws):,} draws, {planned.candidates:,} candidates."
        ),
    )


def _gamma(planned: Plan) -> str:
    assumed = " (assumed)" if planned.proximity_assumed else ""
    return f"γ = {planned.proximity:.2g}{assumed}"
