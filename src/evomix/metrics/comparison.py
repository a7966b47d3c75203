"""Every figure of a synthetic set beside its ceiling and its floor, taken alike."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from evomix.core.arguments import shown, whole
from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.metrics.balls import holds_a_point, lies_in_a_ball, squared_radii
from evomix.metrics.frechet import frechet
from evomix.metrics.mauve import mauve
from evomix.metrics.points import as_points, as_seed, draw
from evomix.metrics.wasserstein import MOST_POINTS, Measure, wasserstein

MEASURES: Final = {
    "precision": "higher",
    "recall": "higher",
    "synthetic_recall": "higher",
    "wasserstein": "lower",
    "frechet": "lower",
    "mauve": "higher",
}
"""The figures of :func:`compare`, and which way is better."""
MOST_COMPARED: Final = 20_000
"""Points a side that figures other than W1 are taken over by default."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of three sets, each against the same real points.

    Attributes:
        name: one of :data:`MEASURES`.
        better: "higher" or "lower".
        synthetic: the synthetic points' figure. An ``error`` of NaN is not known: the figure is of a sample.
        ceiling: that of other real points in their place.
        floor: that of public points in their place; None without any.
    """

    name: str
    better: str
    synthetic: Measure
    ceiling: Measure
    floor: Measure | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The figures of a synthetic set; ``str`` prints the table and ``comparison["recall"]`` is a row.

    Attributes:
        rows: the figures asked for, in that order.
        real_points: real points that all are compared with.
        synthetic_points: synthetic points, and as many other real ones for the ceiling.
        public_points: public points; 0 for none. Fewer than ``synthetic_points`` make the floor look worse than it is.
    """

    rows: tuple[Row, ...]
    real_points: int
    synthetic_points: int
    public_points: int

    def __getitem__(self, name: str) -> Row:
        """Return the row of a figure; KeyError where it was not asked for."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def __str__(self) -> str:
        """Return the table as aligned text."""
        lines = [f"{'':18}{'synthetic':>22}{'ceiling':>22}{'floor':>22}  better"]
        for row in self.rows:
            cells = "".join(f"{_shown(item):>22}" for item in (row.synthetic, row.ceiling, row.floor))
            lines.append(f"{row.name:18}{cells}  {row.better}")
        points = f"{self.synthetic_points:,} points against {self.real_points:,} real ones"
        lines.append(points + (f"; floor: {self.public_points:,} public points" if self.public_points else ""))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON content: null for a floor that is not there and an error that is not known."""
        return {
            "real_points": self.real_points,
            "synthetic_points": self.synthetic_points,
            "public_points": self.public_points,
            "rows": [
                {"name": row.name, "better": row.better}
                | {place: _plain(getattr(row, place)) for place in ("synthetic", "ceiling", "floor")}
                for row in self.rows
            ],
        }


def compare(
    real: ArrayLike,
    synthetic: ArrayLike,
    *,
    reference: ArrayLike | None = None,
    public: ArrayLike | None = None,
    measures: Sequence[str] | None = None,
    k: int = 3,
    most: int = MOST_COMPARED,
    most_transported: int = MOST_POINTS,
    seed: int = 0,
) -> Comparison:
    """Return all figures of synthetic points, with real points in their place as ceiling and public ones as floor.

    The three sets are of one size, as far as there are points: that of the smallest of ``synthetic``, ``reference`` and
    ``most``. Nearly every figure changes with the number of points, so only figures at one size can be compared.

    Reads real points: not private.

    Args:
        real: numbers (n, d): what the sets are compared with.
        synthetic: numbers (m, d).
        reference: numbers (r, d), other real points, the ceiling; None: ``real`` is split at random, and as many of its
            points as there are synthetic ones, at most half, are set apart for it.
        public: numbers (p, d), what anyone may have: the floor.
        measures: which of :data:`MEASURES`; None: all.
        k: neighbours in a ball of precision and recall.
        most: points a side that take part, drawn at random from larger sets.
        most_transported: ``most`` of :func:`~evomix.metrics.wasserstein`.
        seed: of everything drawn here, whole, from 0 to 2³² − 1.

    Raises:
        SpecError: an unknown measure; a count or seed out of range; sets that are empty, too small for k, not finite
            or of different dimensions.
    """
    names_asked = _measures(measures)
    k, most, seed = whole("k", k, least=1), whole("most", most, least=1), as_seed(seed)
    most_transported = whole("most_transported", most_transported, least=1)
    rng = np.random.default_rng(seed)
    target = as_points("real", real)
    made = as_points("synthetic", synthetic, like=target)
    floor = None if public is None else as_points("public", public, like=target)
    if reference is None:
        target, apart = _split(target, min(len(made), most), rng)
    else:
        apart = as_points("reference", reference, like=target)
    size = min(len(made), len(apart), most)
    real_drawn = draw(target, most, rng)
    sets = {"synthetic": made, "ceiling": apart} | ({} if floor is None else {"floor": floor})
    names = {"synthetic": "synthetic", "ceiling": "reference", "floor": "public"}
    figures = _figures(real_drawn, names_asked, k=k, most_transported=most_transported, seed=seed)
    drawn = {place: draw(points, size, rng) for place, points in sets.items()}
    found = {
        place: {
            name: _as_measure(
                figure(names[place], points),
                (len(real_drawn), len(points)),
                exact=len(real_drawn) == len(target) and len(points) == len(sets[place]),
            )
            for name, figure in figures.items()
        }
        for place, points in drawn.items()
    }
    rows = tuple(
        Row(name, MEASURES[name], found["synthetic"][name], found["ceiling"][name], found.get("floor", {}).get(name))
        for name in figures
    )
    return Comparison(rows, len(real_drawn), size, len(drawn["floor"]) if floor is not None else 0)


def _measures(measures: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the figures that are asked for, each once."""
    if measures is None:
        return tuple(MEASURES)
    known = isinstance(measures, Iterable) and not isinstance(measures, str)
    names = tuple(measures) if known else ()
    if not names or not all(isinstance(name, str) and name in MEASURES for name in names):
        raise SpecError(f"expected measures among {', '.join(MEASURES)}, got measures={shown(measures)}")
    return tuple(dict.fromkeys(names))


_Figure = Callable[[str, FloatArray], float | Measure]


def _figures(
    real: FloatArray, measures: Sequence[str], *, k: int, most_transported: int, seed: int
) -> dict[str, _Figure]:
    """Return each figure as a function of a set's name and points. The real points' balls are drawn once."""
    squared = squared_radii("real", real, k) if {"precision", "recall"} & set(measures) else np.empty(0)

    def usual(name: str, points: FloatArray) -> float:
        return float(lies_in_a_ball(real, points, squared_radii(name, points, k)).mean())

    every: dict[str, _Figure] = {
        "precision": lambda _, points: float(lies_in_a_ball(points, real, squared).mean()),
        "recall": lambda _, points: float(holds_a_point(real, squared, points).mean()),
        "synthetic_recall": usual,
        "wasserstein": lambda _, points: wasserstein(real, points, most=most_transported, seed=seed),
        "frechet": lambda _, points: frechet(real, points),
        "mauve": lambda _, points: mauve(real, points, seed=seed),
    }
    return {name: every[name] for name in measures}


def _split(points: FloatArray, wanted: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return points to compare with and points set apart, at most half."""
    if len(points) < 2:
        raise SpecError("expected at least two real points to split for the ceiling, got 1; give a reference")
    order = rng.permutation(len(points))
    apart = min(wanted, len(points) // 2)
    return points[order[apart:]], points[order[:apart]]


def _as_measure(figure: float | Measure, points: tuple[int, int], *, exact: bool) -> Measure:
    if not isinstance(figure, Measure):
        return Measure(figure, 0.0 if exact else nan, exact, points, 1)
    if exact or not figure.exact:
        return figure
    return Measure(figure.value, nan, False, figure.points, figure.samples)


def _shown(item: Measure | None) -> str:
    if item is None:
        return "-"
    return f"{item.value:.4g}" + (f" ± {item.error:.2g}" if item.error > 0.0 else "")


def _plain(item: Measure | None) -> dict[str, Any] | None:
    if item is None:
        return None
    return {
        "value": item.value,
        "error": item.error if isfinite(item.error) else None,
        "exact": item.exact,
        "points": list(item.points),
        "samples": item.samples,
    }
