"""Does the synthetic table repeat real rows? A measured risk, never a bound: the bound is (ε, δ).

Exact copies and distances to the closest record, each beside a control: real rows the synthesizer never saw
when there are some, otherwise each real row against all others. Some twins are innocent where few rows are
possible; only the excess over the control speaks of copying. Reads real rows: not private.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.evaluation.closest import distance_to_closest, place, sample_positions
from evomix.evaluation.columns import ColumnLike

PERCENTILES = (1, 5, 25, 50, 75)
QUERIES = 1_000
REFERENCES = 20_000
NOTABLE_EXCESS = 0.01
LOUD_EXCESS = 0.5
_NORMAL_QUANTILE = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Proportion:
    """A share with its 95 % Wilson interval, all within [0, 1]."""

    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Copies:
    """How near synthetic rows are to real ones.

    Attributes:
        copies: share of synthetic rows that equal a real row in every column.
        twins: the same for the control.
        control: what the control is.
        excess: (copies − twins) / (1 − twins), clipped to [0, 1]: the share that chance does not explain;
            None where every control row has a twin, so that copying cannot be told from chance.
        percentiles: percentages of the distances below.
        distances: those percentiles of the distance of synthetic rows to the closest real row; 0 is a copy, 1
            is different in every column.
        control_distances: the same for the control.
        warnings: plain sentences, loudest first.
    """

    copies: Proportion
    twins: Proportion
    control: str
    excess: Proportion | None
    percentiles: tuple[int, ...]
    distances: tuple[float, ...]
    control_distances: tuple[float, ...]
    warnings: tuple[str, ...]


def measure_copies(
    real: FloatArray,
    synthetic: FloatArray,
    columns: Sequence[ColumnLike],
    *,
    control: FloatArray | None,
    rng: np.random.Generator,
) -> Copies:
    """Count copies and measure distances. Reads real rows: not private.

    Copies are counted over all rows; distances over samples of at most 1,000 rows against at most 20,000.

    Args:
        real: float64 (n, c), n ≥ 1; the rows that must not be repeated.
        synthetic: float64 (m, c), m ≥ 1.
        columns: the c columns.
        control: float64 (k, c), real rows the synthesizer never saw; None: real rows against the other real
            rows.
        rng: draws the samples for distances.
    """
    real_keys = _row_keys(real)
    counts: dict[bytes, int] = {}
    for key in real_keys:
        counts[key] = counts.get(key, 0) + 1
    copies = proportion(sum(key in counts for key in _row_keys(synthetic)), len(synthetic))
    if control is not None and len(control):
        name = "real rows kept apart"
        twins = proportion(sum(key in counts for key in _row_keys(control)), len(control))
    else:
        name = "each real row against all other real rows"
        twins = proportion(sum(counts[key] > 1 for key in real_keys), len(real))
    excess = _excess(copies, twins)
    distances, control_distances = _distances(real, synthetic, columns, control, rng)
    return Copies(
        copies=copies,
        twins=twins,
        control=name,
        excess=excess,
        percentiles=PERCENTILES,
        distances=distances,
        control_distances=control_distances,
        warnings=_warnings(copies, twins, excess),
    )


def _row_keys(population: FloatArray) -> list[bytes]:
    canonical = np.where(np.isnan(population), np.nan, population + 0.0)  # one NaN, one zero
    return [row.tobytes() for row in np.ascontiguousarray(canonical)]


def proportion(hits: int, rows: int) -> Proportion:
    """Return ``hits`` of ``rows`` ≥ 1 with its interval."""
    share, z2 = hits / rows, _NORMAL_QUANTILE**2
    centre = (share + z2 / (2 * rows)) / (1 + z2 / rows)
    half = np.sqrt(z2 * (share * (1 - share) / rows + z2 / (4 * rows**2))) / (1 + z2 / rows)
    return Proportion(share, float(np.clip(centre - half, 0.0, share)), float(np.clip(centre + half, share, 1.0)))


def _excess(copies: Proportion, twins: Proportion) -> Proportion | None:
    def beyond(share: float, chance: float) -> float:
        return float(np.clip((share - chance) / (1.0 - chance), 0.0, 1.0)) if chance < 1.0 else 0.0

    if twins.share >= 1.0:
        return None
    return Proportion(beyond(copies.share, twins.share), beyond(copies.low, twins.high), beyond(copies.high, twins.low))


def _warnings(copies: Proportion, twins: Proportion, excess: Proportion | None) -> tuple[str, ...]:
    figures = (
        f"{copies.share:.0%} of the synthetic rows are exact copies of real rows, where chance explains "
        f"{twins.share:.0%}"
    )
    if excess is None:
        same = "so few different rows are possible here that copying cannot be told from chance"
        return (f"every synthetic row and every control row equals a real row: {same}",) if copies.share == 1 else ()
    if excess.share >= LOUD_EXCESS:
        return (f"COPIES: {figures}. Do not share this table: it repeats real records.",)
    return (f"copies: {figures}",) if excess.low > NOTABLE_EXCESS else ()


def _distances(
    real: FloatArray,
    synthetic: FloatArray,
    columns: Sequence[ColumnLike],
    control: FloatArray | None,
    rng: np.random.Generator,
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    reference = real[sample_positions(len(real), REFERENCES, rng)]
    places = place(reference, columns)
    queries = synthetic[sample_positions(len(synthetic), QUERIES, rng)]
    made = distance_to_closest(place(queries, columns), places)
    if control is not None and len(control):
        apart = control[sample_positions(len(control), QUERIES, rng)]
        return _percentiles(made), _percentiles(distance_to_closest(place(apart, columns), places))
    own = sample_positions(len(reference), QUERIES, rng)
    held = distance_to_closest(place(reference[own], columns), places, own=own)
    return _percentiles(made), _percentiles(held)


def _percentiles(distances: FloatArray) -> tuple[float, ...]:
    """Return the percentiles; none for a table of one row, which has no other row to be near to."""
    return tuple(float(value) for value in np.percentile(distances, PERCENTILES)) if len(distances) else ()
