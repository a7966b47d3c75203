"""Whether the synthetic table tells more of the real rows than the public table alone."""

import math
from collections.abc import Sequence

from evomix.evaluation.downstream import Downstream, Score
from evomix.evaluation.fidelity import Fidelity
from evomix.metrics.comparison import Comparison

ERRORS = ("rmse",)
"""Scores of models of which less is better."""
REPEATED = ("r2",)
"""Scores that follow from another one."""


def verdict(likeness: Fidelity, models: Downstream | None, points: Comparison | None = None) -> str:
    """Return one sentence that counts the figures on which each of the two tables is closer to the real rows.

    The figures are the distances of all kinds of marginals, the difference in association, the figures of rows as
    points and, where models were trained on both tables, their mean scores. A score is as close as it falls short of
    that of as many real rows; scores that differ by no more than their standard errors are equally close. No figure
    weighs more than another: the sentence says where to look.

    Args:
        likeness: its floor is the public table.
        models: scores of models, if any.
        points: figures of rows as points, if any.
    """
    return count_figures([*_distances(likeness), *point_pairs(points), *(() if models is None else loss_pairs(models))])


def count_figures(pairs: Sequence[tuple[float, float]]) -> str:
    """Return the sentence for pairs (shortfall of the synthetic rows, shortfall of the public ones)."""
    public = sum(public < made for made, public in pairs)
    made = sum(made < public for made, public in pairs)
    equal = len(pairs) - public - made
    tied = f"; on {equal} they are equally close" if equal else ""
    if public > made:
        return _sentence(public, len(pairs), made, ("the public table alone", "the synthetic one")) + tied + "."
    return _sentence(made, len(pairs), public, ("the synthetic table", "the public table alone")) + tied + "."


def _sentence(ahead: int, figures: int, behind: int, tables: tuple[str, str]) -> str:
    closer, other = tables
    text = f"On {ahead} of {figures} figures {closer} is closer to the real rows than {other}"
    return text + (f"; on {behind} it is the other way round" if behind else "")


def _distances(likeness: Fidelity) -> list[tuple[float, float]]:
    pairs = [(score.mean, score.floor) for score in likeness.marginals]
    if likeness.pairs:
        pairs.append((likeness.association.difference, likeness.association.floor))
    return pairs


def point_pairs(points: Comparison | None) -> list[tuple[float, float]]:
    """Return how far both tables fall short of other real rows."""
    pairs = []
    for row in () if points is None else points.rows:
        if row.floor is not None:
            sign, best = (1.0 if row.better == "lower" else -1.0), float(row.ceiling)
            pairs.append((max(sign * (float(row.synthetic) - best), 0.0), max(sign * (float(row.floor) - best), 0.0)))
    return pairs


def loss_pairs(models: Downstream) -> list[tuple[float, float]]:
    """Return how far models of both tables fall short of those of real rows, where both tables could train one."""
    scores = {arm.name: arm.scores for arm in models.arms}
    pairs = []
    for name, made in scores.get("synthetic", {}).items():
        public, real = scores.get("public", {}).get(name), scores.get("real_same_rows", {}).get(name)
        if name in REPEATED or made.mean is None or public is None or public.mean is None:
            continue
        sign = 1.0 if name in ERRORS else -1.0
        best = sign * real.mean if real is not None and real.mean is not None else -math.inf
        losses = max(sign * made.mean, best), max(sign * public.mean, best)
        chance = math.hypot(_error(made, models.seeds), _error(public, models.seeds))
        pairs.append(losses if abs(losses[0] - losses[1]) > chance else (losses[0], losses[0]))
    return pairs


def _error(score: Score, seeds: int) -> float:
    """Return the standard error of a mean score; 0 where one seed tells nothing of it."""
    return 0.0 if score.sd is None else score.sd / math.sqrt(seeds)
