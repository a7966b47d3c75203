"""Noisy marginals brought to agree where they share columns, and to be counts.

Source: Zhang et al., "PrivSyn" (2021), section 4.4; Qardaji, Yang and Li, "PriView" (2014), section 4.2.
Post-processing; costs nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from evomix.bench.rivals.simplex import nearest_counts
from evomix.core.arrays import FloatArray

MOST_ROUNDS: Final = 501
"""Rounds of agreeing and of taking off negative counts (2021)."""
_NEGATIVE: Final = 1e-6
"""What counts as negative, as a share of all rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The noisy counts of one marginal.

    Attributes:
        attributes: its columns, ascending.
        counts: float64, one axis a column; changed in place by :func:`make_consistent`.
        variance: that of the noise of one count.
    """

    attributes: tuple[int, ...]
    counts: FloatArray
    variance: float

    def others(self, shared: tuple[int, ...]) -> tuple[int, ...]:
        """Return the axes of the columns that are not in ``shared``."""
        return tuple(axis for axis, j in enumerate(self.attributes) if j not in shared)


def make_consistent(marginals: Sequence[Measured], total: float) -> None:
    """Change counts in place until shared columns agree and nothing is negative, as far as rounds allow.

    Each agreement is the precision-weighted mean of what the marginals say; the difference is spread evenly over the
    cells behind it. Each marginal ends on the simplex of counts that sum to ``total``.
    """
    shared = shared_sets([item.attributes for item in marginals])
    groups = [(subset, [m for m in marginals if set(subset) <= set(m.attributes)]) for subset in shared]
    for item in marginals:
        item.counts[...] += (total - item.counts.sum()) / item.counts.size
    for _ in range(MOST_ROUNDS):
        for subset, members in groups:
            _agree(subset, members)
        if min(float(item.counts.min()) for item in marginals) >= -_NEGATIVE * total:
            break
        _make_counts(marginals, total)
    _make_counts(marginals, total)


def shared_sets(attributes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return every column and larger set of columns that several marginals have in common, smaller ones first.

    Closed under intersection: agreeing on a set then leaves what was agreed on its subsets as it is. Two marginals of
    at most two columns each share one column at most, so larger sets are sought among the larger marginals alone.
    """
    sets = {frozenset(one) for one in attributes}
    columns = [j for one in attributes for j in one]
    found = {frozenset([j]) for j in set(columns) if columns.count(j) > 1}
    large = {one for one in sets if len(one) > 2}
    fresh = {one & other for one, other in combinations(large, 2)}
    while fresh:
        found |= fresh
        fresh = {one & other for one, other in combinations(found | large, 2)} - found - large
    return sorted((tuple(sorted(one)) for one in found if one), key=lambda one: (len(one), one))


def _agree(subset: tuple[int, ...], members: Sequence[Measured]) -> None:
    if len(members) < 2:
        return
    others = [item.others(subset) for item in members]
    said = [item.counts.sum(axis=axes, keepdims=True) for item, axes in zip(members, others, strict=True)]
    # A sum over k cells has k times their variance.
    weights = np.array([one.size / (item.counts.size * item.variance) for item, one in zip(members, said, strict=True)])
    weights /= weights.sum()
    agreed = sum(weight * one.ravel() for weight, one in zip(weights, said, strict=True))
    for item, one in zip(members, said, strict=True):
        item.counts[...] += (agreed.reshape(one.shape) - one) * (one.size / item.counts.size)


def _make_counts(marginals: Sequence[Measured], total: float) -> None:
    for item in marginals:
        item.counts[...] = nearest_counts(item.counts.ravel(), total).reshape(item.counts.shape)
