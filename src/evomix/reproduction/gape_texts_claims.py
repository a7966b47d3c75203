"""What the paper says of GAPE on embedded texts, held against what was measured."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.reproduction.figure import NOT_COMPARABLE, Claim
from evomix.reproduction.text_curves import (
    CEILING,
    DIFFERENT,
    DISTANCE,
    FLOOR,
    GAPE,
    LOWER,
    RANK,
    RECALL,
    SMALLEST,
    SUBSAMPLE,
    WEIGHTED,
    Curve,
    Measured,
)

ENOUGH: Final = 2.0
"""ε from which GAPE is held to be no worse."""
LARGE: Final = 8.0
"""What "large ε" is taken to mean."""
COMPETITIVE: Final = 0.01
"""What "competitive" in W1 is taken to mean: farther by at most this share."""
_ERRORS: Final = 2.0  # standard errors of a paired difference before it is called one


def gains(found: Measured, one: str, other: str, metric: str) -> FloatArray:
    """Return by how much curve ``one`` is larger than ``other`` on the same splits, float64 (epsilons, seeds)."""
    return np.asarray(found.values[one][metric] - found.values[other][metric], dtype=np.float64)


def text_claims(measured: Sequence[Measured]) -> tuple[Claim, ...]:
    """Return the claims with their verdicts: in the first setting, but for what is about more private texts."""
    found = measured[0]
    more = [one for one in measured if one.setting.shifted and one.setting.ratio > found.setting.ratio]
    return (
        *(claim for one in (found, *more) for claim in (_recall_of_rank(one), _distance_of_subsample(one))),
        _weighted_distance(found),
        _large_budget(found),
        _worst_recall(found),
        _competitive(found),
        _small_topic(found),
        *_more_private_texts(measured),
        Claim(
            "The values drawn, and those of Table 1.",
            NOT_COMPARABLE,
            "The paper's texts, generator (GPT-2), embedder and sizes are others, and recall depends on n and m.",
        ),
    )


def _recall_of_rank(found: Measured) -> Claim:
    gained = gains(found, GAPE.name, RANK.name, RECALL)
    rows = _from(found, ENOUGH)
    return Claim(
        f"n/m = {found.setting.ratio}: GAPE's recall is no smaller than that of rank (ε ≥ {ENOUGH:g}).",
        all(gained[k].mean() >= 0.0 for k in rows),
        f"GAPE less rank, mean ± standard error: {_list(found, gained, rows)}. {_clear(gained, rows, 1.0)}",
    )


def _distance_of_subsample(found: Measured) -> Claim:
    gained = gains(found, GAPE.name, SUBSAMPLE.name, DISTANCE)
    rows = _from(found, ENOUGH)
    return Claim(
        f"n/m = {found.setting.ratio}: GAPE ends no farther from the private texts (W1) than subsampling "
        f"(ε ≥ {ENOUGH:g}).",
        all(gained[k].mean() <= 0.0 for k in rows),
        f"GAPE less subsample, mean ± standard error: {_list(found, gained, rows)}. {_clear(gained, rows, -1.0)}",
    )


def _weighted_distance(found: Measured) -> Claim:
    gained = gains(found, WEIGHTED, SUBSAMPLE.name, DISTANCE)
    rows = _from(found, ENOUGH)
    return Claim(
        f"n/m = {found.setting.ratio}: the same for GAPE's texts weighted by the votes that flow to them, as the "
        f"product draws rows (ε ≥ {ENOUGH:g}; the paper has no weights).",
        all(gained[k].mean() <= 0.0 for k in rows),
        f"GAPE weighted less subsample: {_list(found, gained, rows)}. {_clear(gained, rows, -1.0)}",
    )


def _large_budget(found: Measured) -> Claim:
    gained = gains(found, GAPE.name, RANK.name, RECALL)
    rows = _from(found, LARGE)
    return Claim(
        f"For large ε (here {LARGE:g} and more) GAPE has the higher recall of the two.",
        all(is_clear(gained[k]) for k in rows),
        f"GAPE less rank: {_list(found, gained, rows)}. {_clear(gained, rows, 1.0)}",
    )


def _worst_recall(found: Measured) -> Claim:
    lower = [
        bool(max(gains(found, SUBSAMPLE.name, other.name, RECALL)[k].mean() for other in (RANK, GAPE)) < 0.0)
        for k in range(len(found.epsilons))
    ]
    means = ", ".join(
        f"{budget(epsilon)}: {' / '.join(f'{_mean(found, curve, RECALL, k):.4f}' for curve in (SUBSAMPLE, RANK, GAPE))}"
        for k, epsilon in enumerate(found.epsilons)
    )
    return Claim(
        "Subsampling has the smallest recall of the three.",
        all(lower),
        f"Smallest at {sum(lower)} of {len(lower)} budgets. Subsample / rank / GAPE: {means}.",
    )


def _competitive(found: Measured) -> Claim:
    ratios = [_mean(found, GAPE, DISTANCE, k) / _mean(found, RANK, DISTANCE, k) for k in range(len(found.epsilons))]
    told = ", ".join(f"{budget(epsilon)} {ratio:.4f}" for epsilon, ratio in zip(found.epsilons, ratios, strict=True))
    return Claim(
        f"GAPE is competitive with rank in W1 (our reading: farther by {COMPETITIVE:.0%} at most).",
        max(ratios) <= 1.0 + COMPETITIVE,
        f"W1 of GAPE over that of rank: {told}.",
    )


def _small_topic(found: Measured) -> Claim:
    """Compare how far each is from the true share of the smallest topic."""
    true = found.share[None, :]
    off = {curve: np.abs(found.values[curve.name][SMALLEST] - true) for curve in (RANK, GAPE)}
    gained = np.asarray(off[GAPE] - off[RANK])
    rows = _from(found, ENOUGH)
    shares = ", ".join(
        f"{budget(found.epsilons[k])}: {_mean(found, RANK, SMALLEST, k):.3f} / {_mean(found, GAPE, SMALLEST, k):.3f}"
        for k in rows
    )
    public, held_out = (found.references[name][SMALLEST].mean() for name in (FLOOR, CEILING))
    return Claim(
        f"GAPE gives the smallest topic a share no farther from its true one than rank does (ε ≥ {ENOUGH:g}).",
        all(gained[k].mean() <= 0.0 for k in rows),
        f"True share {found.share.mean():.3f}; rank / GAPE: {shares}; among public texts {public:.3f}, held-out ones "
        f"{held_out:.3f}.",
    )


def _more_private_texts(measured: Sequence[Measured]) -> tuple[Claim, ...]:
    """Compare settings that differ in n/m alone; no claim where there is one only."""
    alike = sorted((one for one in measured if one.setting.shifted), key=lambda one: one.setting.ratio)
    if len(alike) < 2:
        return ()
    gaps = [float(gains(one, GAPE.name, RANK.name, RECALL)[_from(one, ENOUGH)].mean()) for one in alike]
    relative = [gap / _mean_of(one, RANK, RECALL) for gap, one in zip(gaps, alike, strict=True)]
    told = ", ".join(f"n/m = {one.setting.ratio}: {gap:+.1%}" for one, gap in zip(alike, relative, strict=True))
    return (
        Claim(
            "The more private texts for each synthetic one, the better GAPE does beside rank in recall.",
            all(low < high for low, high in pairwise(relative)),
            f"Recall of GAPE less that of rank, as a share of the latter, mean over ε ≥ {ENOUGH:g}: {told}.",
        ),
    )


def text_notes(found: Measured) -> tuple[str, ...]:
    """Return what a reader must know of one setting."""
    best = {metric: found.references[CEILING][metric].mean() for metric in (RECALL, DISTANCE)}
    least = {metric: found.references[FLOOR][metric].mean() for metric in (RECALL, DISTANCE)}
    rows = _from(found, ENOUGH)
    words = "; ".join(
        f"{metric}: GAPE less {other.name} {_list(found, gains(found, GAPE.name, other.name, metric), rows)}"
        for metric in (RECALL, DISTANCE)
        for other in (RANK, SUBSAMPLE)
    )
    n, m, pool = found.sizes
    told = (
        f"{found.setting.name} (n = {n:,}, m = {m:,}, {pool:,} public texts): {words}. Recall of held-out texts "
        f"{best[RECALL]:.4f}, of public texts {least[RECALL]:.4f}; W1 {best[DISTANCE]:.4f} and {least[DISTANCE]:.4f}. "
        f"Different texts among the m (subsample / rank / GAPE): {_different(found)}."
    )
    return (told, *_lower_threshold(found))


def _lower_threshold(found: Measured) -> tuple[str, ...]:
    """Return what GAPE does when more candidates may be selected; nothing where that was not measured."""
    if LOWER.name not in found.values:
        return ()
    rows = range(len(found.epsilons))
    recall = _list(found, gains(found, LOWER.name, RANK.name, RECALL), rows)
    distance = _list(found, gains(found, LOWER.name, SUBSAMPLE.name, DISTANCE), rows)
    told = (
        "Where fewer than m candidates stand above τ = 2σ, repeats make up what is missing. "
        f"{LOWER.name}: recall less rank's {recall}; W1 less subsample's {distance}."
    )
    return (told,)


def _different(found: Measured) -> str:
    """Return how many texts are no repeats: fewer can be in fewer balls."""
    words = []
    for k, epsilon in enumerate(found.epsilons):
        shares = " / ".join(f"{_mean(found, curve, DIFFERENT, k):.0%}" for curve in (SUBSAMPLE, RANK, GAPE))
        words.append(f"{budget(epsilon)} {shares}")
    return ", ".join(words)


def is_clear(gained: FloatArray) -> bool:
    """Return whether repetitions (seeds,) show a positive difference beyond chance."""
    return bool(float(gained.mean()) > _ERRORS * _error(gained))


def budget(epsilon: float) -> str:
    """Return ε in words."""
    return "no noise" if math.isinf(epsilon) else f"ε = {epsilon:g}"


def _from(found: Measured, least: float) -> list[int]:
    return [k for k, epsilon in enumerate(found.epsilons) if epsilon >= least]


def _mean(found: Measured, curve: Curve, metric: str, place: int) -> float:
    return float(found.values[curve.name][metric][place].mean())


def _mean_of(found: Measured, curve: Curve, metric: str) -> float:
    return float(found.values[curve.name][metric][_from(found, ENOUGH)].mean())


def _error(gained: FloatArray) -> float:
    return float(gained.std(ddof=1)) / math.sqrt(len(gained)) if len(gained) > 1 else math.inf


def _list(found: Measured, gained: FloatArray, rows: Iterable[int]) -> str:
    return ", ".join(f"{budget(found.epsilons[k])} {gained[k].mean():+.4f} ± {_error(gained[k]):.4f}" for k in rows)


def _clear(gained: FloatArray, rows: list[int], sign: float) -> str:
    clear = sum(is_clear(sign * gained[k]) for k in rows)
    against = sum(is_clear(-sign * gained[k]) for k in rows)
    return f"Beyond {_ERRORS:g} standard errors at {clear} of {len(rows)} budgets, the other way round at {against}."
