"""What the figures of a generator's diagnosis come to: means with their uncertainty, a verdict, warnings."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.diagnosis.contraction import WITHIN, contraction, rounds_needed
from evomix.diagnosis.steps import Steps
from evomix.diagnosis.uncertainty import interval, medians, quantile, share_interval

BEST_OF: Final = (1, 4, 16, 64)
"""Numbers of variations of a record for which the expected step towards its target is told."""
STALLS: Final = 0.05
"""A larger share of stalled targets is warned about."""
UNREACHABLE: Final = 0.05
DRIFTS: Final = 1.0
"""A mean of variations that is farther from their parent than their spread is warned about."""


def told_scale(steps: Steps, rng: np.random.Generator) -> dict[str, Any]:
    """Return what variations at one scale do, as plain values; intervals are 95 %, from resampling pairs."""
    rank = steps.shares.rank
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = steps.shares.error / steps.shares.share
    return {
        "scale": steps.scale,
        "length": _median(steps.length, rng),
        "rank": _median(rank, rng) | {"low": quantile(rank, 0.1), "high": quantile(rank, 0.9)},
        "rank_error": quantile(np.where(np.isfinite(noise), noise, np.nan), 0.5),
        "unreachable": float(np.mean(~np.isfinite(rank))),
        "constant": _median(steps.constant, rng),
        "drift": quantile(steps.drift, 0.5),
        "participation": _median(steps.participation, rng),
        "components": steps.components,
        "correlation": _median(steps.correlation, rng),
        "best_of": {str(count): _mean(steps.best_of(count), rng) for count in BEST_OF if count <= steps.variations},
    }


def told_ceiling(ceiling: FloatArray, rng: np.random.Generator) -> dict[str, Any]:
    """Return the mean distance of the targets from a public sample, with its 95 % interval over targets."""
    return _mean(ceiling, rng)


def told_approach(
    distances: FloatArray, ceiling: FloatArray, stuck: NDArray[np.bool_], rng: np.random.Generator
) -> dict[str, Any]:
    """Return what an evolution reached, as plain values; intervals are 95 %, from resampling targets.

    Args:
        distances: float64 (T + 1, n).
        ceiling: float64 (n,).
        stuck: bool (n,), which targets stalled.
        rng: public randomness.
    """
    both = np.column_stack([distances.T, ceiling])

    def pace(resampled: FloatArray) -> FloatArray:
        means = resampled.mean(axis=1)
        return contraction(means[:, :-1], (1.0 + WITHIN) * means[:, -1])

    curve, mean_ceiling = distances.mean(axis=1), float(ceiling.mean())
    return {
        "curve": curve.tolist(),
        "start": _mean(distances[0], rng),
        "end": _mean(distances[-1], rng),
        "reached": _share(distances[-1] <= ceiling),
        "stalled": _share(stuck),
        "contraction": {"value": float(pace(both[np.newaxis])[0]), "interval": list(interval(both, pace, rng))},
        "rounds_needed": rounds_needed(curve, mean_ceiling),
    }


def verdict(told: Mapping[str, Any]) -> str:
    """Return the sentence that answers the question, for the harder of the starts."""
    if not told["scales"]:
        return "nothing to say: every target is among the first candidates already"
    if not told["approaches"]:
        return "how near variations come to records is not told: that takes public rows to hold out"
    found, rounds = told["approaches"][-1], told["rounds"]
    start, needed = found["from"], found["rounds_needed"]
    if found["stalled"]["value"] > STALLS:
        return (
            f"it stalls: from {start}, {_percent(found['stalled'])} of the targets stay far, and variations of their "
            "nearest record no longer come nearer"
        )
    there = "the mean distance is within 10 % of that of a public sample"
    if needed is None:
        return f"it does not get there: from {start}, no number of rounds is in sight after which {there}"
    if needed > rounds:
        return f"it is slow: from {start}, at the pace of the last rounds about {needed} rounds until {there}"
    return f"it gets there: from {start}, after {needed} round(s) {there}"


def warnings(told: Mapping[str, Any], *, least_rows: int) -> Iterator[str]:
    """Yield what to do about what was found."""
    rows = sum(told["public_rows"])
    if not told["approaches"]:
        yield (
            f"reachability needs at least {least_rows} public rows, of which some are held out as targets; found "
            f"{rows}. What is told here is about random records"
        )
    if told["scales"] and all(one["length"]["value"] == 0.0 for one in told["scales"]):
        yield "the generator makes no other records than it is given; the schema may know one record only"
        return
    if any(one["stalled"]["value"] > STALLS for one in told["approaches"]):
        yield (
            "votes would keep records where they are, though variations go on: a local optimum of the distance. Try "
            "larger scales (--schedule multiscale keeps the largest in every round), more variations and candidates, "
            "or another generator"
        )
    if any(one["unreachable"] > UNREACHABLE for one in told["scales"]):
        worst = max(one["unreachable"] for one in told["scales"])
        yield (
            f"for {100 * worst:.0f} % of the targets no variation at some scale moved along the way to them (λ = ∞ in "
            f"{told['variations']} variations): more variations of a record, or a generator that moves there"
        )
    if any(one["drift"] > DRIFTS for one in told["scales"]):
        yield (
            "variations do not lie about their parent: their mean is farther from it than they are from one another. λ "
            "and c, which take the mean for 0, then say less than the measured approach"
        )


def _mean(values: FloatArray, rng: np.random.Generator) -> dict[str, Any]:
    return {
        "value": float(values.mean()),
        "interval": list(interval(values, lambda resampled: np.asarray(resampled.mean(axis=1)), rng)),
    }


def _share(told: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the share of those of which it is true, and its interval by Wilson."""
    count = int(told.sum())
    return {"value": count / len(told), "interval": list(share_interval(count, len(told)))}


def _median(values: FloatArray, rng: np.random.Generator) -> dict[str, Any]:
    return {"value": quantile(values, 0.5), "interval": list(interval(values, medians, rng))}


def _percent(share: Mapping[str, Any]) -> str:
    low, high = share["interval"]
    return f"{100 * share['value']:.0f} % ({100 * low:.0f} to {100 * high:.0f})"
