"""Whether the synthetic table tells more of the real rows than the public table alone."""

from evomix.evaluation.downstream import Downstream
from evomix.evaluation.fidelity import Fidelity

ERRORS = ("rmse",)
"""Scores of models of which less is better."""
REPEATED = ("r2",)
"""Scores that follow from another one."""


def verdict(likeness: Fidelity, models: Downstream | None) -> str:
    """Return one sentence that counts the figures on which each of the two tables is closer to the real rows.

    The figures are the distances of all kinds of marginals, the difference in association and, where models were
    trained on both tables, their mean scores. No figure weighs more than another: the sentence says where to look.

    Args:
        likeness: its floor is the public table.
        models: scores of models, if any.
    """
    pairs = [*_distances(likeness), *(() if models is None else _errors(models))]
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


def _errors(models: Downstream) -> list[tuple[float, float]]:
    """Return (synthetic, public) pairs of which less is better; none where a table could not train a model."""
    scores = {arm.name: arm.scores for arm in models.arms}
    pairs = []
    for name, made in scores.get("synthetic", {}).items():
        public = scores.get("public", {}).get(name)
        if name in REPEATED or made.mean is None or public is None or public.mean is None:
            continue
        sign = 1.0 if name in ERRORS else -1.0
        pairs.append((sign * made.mean, sign * public.mean))
    return pairs
