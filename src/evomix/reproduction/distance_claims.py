"""What Figures 1(d) and 4 claim, held against measured distances."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from evomix.privacy.gaussian_accounting import gaussian_stddev
from evomix.reproduction.distance_curves import (
    GAUSSIAN,
    LINMIX,
    PUBMIX,
    THRESHOLDED,
    Distances,
    middle,
)
from evomix.reproduction.figure import NOT_COMPARABLE, Claim
from evomix.reproduction.releases import ADJACENCY
from evomix.reproduction.state_pairs import EPSILON, StatePair

Measured = Sequence[tuple[StatePair, Distances]]
_ROUNDING: Final = 1e-9
_ERRORS: Final = 2.0  # standard errors of a difference before it is called one
_RISE: Final = 0.05  # of the total variation: what "falls behind as m grows" must mean


def distance_claims(measured: Measured, *, seeds: int) -> tuple[Claim, ...]:
    """Return the claims of both figures with what ``seeds`` repetitions on each pair of states say about them."""
    return (_near_gaussian(measured, seeds), _near_linmix(measured, seeds), _growth(measured), _factor(measured))


def ratio(found: Distances, draws: int) -> float:
    """Return how many times as far as PubMix the Gaussian mechanism ends."""
    return found.at(GAUSSIAN, draws) / found.at(PUBMIX, draws)


def distance_notes(measured: Measured) -> tuple[str, ...]:
    """Return what a reader must know beside the claims."""
    n = measured[0][0].budget.n
    here = {rule: gaussian_stddev(EPSILON, 1.0 / n, rounds=1, adjacency=rule) for rule in ("replace-one", "add-remove")}
    beaten = _each(measured, lambda pair, found: _two(found, THRESHOLDED, PUBMIX, middle(pair)))
    clipped = (
        "The Gaussian histogram is clipped at 0 and normalised, as in the paper's pipelines. To drop cells below "
        "σ√(2 ln d) as well costs nothing and changes the picture. Its distance against that of PubMix at m = n/10: "
        f"{beaten}."
    )
    noise = (
        f"Noise of the Gaussian at n = {n:,}: σ = {here['replace-one']:.3f} under replace-one, the relation of all "
        f"figures here; under add-remove, which is another promise, it would be {here['add-remove']:.3f}."
    )
    free = (
        "The line of the public rows needs no private row: what a mechanism gains is how far it ends below that line."
    )
    return clipped, noise, free


def summary_notes(lines: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Return a sentence on all ordered pairs; none where they were not measured."""
    if not lines:
        return ()
    ratios = np.array([line[GAUSSIAN] / line[PUBMIX] for line in lines])
    behind = [line for line in lines if line[PUBMIX] > line[LINMIX] + _ROUNDING]
    private = ", ".join(sorted({str(line["private"]) for line in behind})) or "none"
    apart = sum(line["distance"] > line["proximity"] for line in behind)
    threshold = sum(line[THRESHOLDED] < line[PUBMIX] for line in lines)
    factor = (
        f"All {len(lines)} ordered pairs at m = n/10, one repetition each: the Gaussian's distance is "
        f"{ratios.min():.2f} to {ratios.max():.2f} times that of PubMix, median {np.median(ratios):.2f}, and larger in "
        f"{int((ratios > 1.0).sum())}."
    )
    losses = (
        f"Of these, LinMix is nearer than PubMix in {len(behind)} (private: {private}); in {apart} of them the two "
        f"states' votes lie farther apart than γ. The Gaussian above a threshold is nearer than PubMix in {threshold}."
    )
    return factor, losses


def _near_gaussian(measured: Measured, seeds: int) -> Claim:
    nearer = [_farther(found, GAUSSIAN, PUBMIX, m, seeds) for _, found in measured for m in found.draws]
    ratios = _each(measured, lambda pair, found: f"{ratio(found, middle(pair)):.2f}")
    return Claim(
        f"PubMix ends nearer to the private votes than the Gaussian mechanism ({ADJACENCY} for both).",
        all(nearer),
        f"Nearer, by more than {_ERRORS:g} standard errors, at {sum(nearer)} of {len(nearer)} points (pair, m). "
        f"At m = n/10 the Gaussian is as many times farther: {ratios}.",
    )


def _near_linmix(measured: Measured, seeds: int) -> Claim:
    points = [(pair, found, m) for pair, found in measured for m in found.draws]
    worse = [(pair, m) for pair, found, m in points if _farther(found, PUBMIX, LINMIX, m, seeds)]
    where = "; ".join(f"{pair.private}/{pair.public} at m = {m:,}" for pair, m in worse) or "nowhere"
    return Claim(
        "PubMix ends no farther from the private votes than LinMix does.",
        not worse,
        f"Farther, by more than {_ERRORS:g} standard errors, at {len(worse)} of {len(points)} points: {where}.",
    )


def _growth(measured: Measured) -> Claim:
    rises = all(found.mean[LINMIX][-1] > min(found.mean[LINMIX]) + _RISE for _, found in measured)
    avoided = all(found.mean[PUBMIX][-1] < found.mean[LINMIX][-1] for _, found in measured)
    ends = _each(measured, lambda _, found: f"LinMix {_last(found, LINMIX)} and PubMix {_last(found, PUBMIX)}")
    return Claim(
        "LinMix does well at small m and falls behind as m grows, which PubMix avoids.",
        rises and avoided,
        f"Distance at m = n (least distance on the curve): {ends}.",
    )


def _factor(measured: Measured) -> Claim:
    ratios = [ratio(found, middle(pair)) for pair, found in measured]
    return Claim(
        "By how much PubMix is nearer than the Gaussian.",
        NOT_COMPARABLE,
        "The paper draws the factor and states no number; its states (Texas and California, 2023, n = 57,717) and its "
        f"number of cells are others. Ours at m = n/10: {min(ratios):.2f} to {max(ratios):.2f}.",
    )


def _farther(found: Distances, one: str, other: str, draws: int, seeds: int) -> bool:
    """Return whether ``one`` is farther than ``other`` by more than what repetitions scatter."""
    k = found.draws.index(draws)
    error = math.hypot(found.spread[one][k], found.spread[other][k]) / math.sqrt(seeds)
    return found.mean[one][k] - found.mean[other][k] > max(_ERRORS * error, _ROUNDING)


def _each(measured: Measured, words: Callable[[StatePair, Distances], str]) -> str:
    return ", ".join(f"{pair.private}/{pair.public} {words(pair, found)}" for pair, found in measured)


def _two(found: Distances, one: str, other: str, draws: int) -> str:
    return f"{found.at(one, draws):.2f} against {found.at(other, draws):.2f}"


def _last(found: Distances, curve: str) -> str:
    return f"{found.mean[curve][-1]:.2f} ({min(found.mean[curve]):.2f})"
