"""What is counted, in what order, and with what share of the budget.

First every column by itself, finely; then each column with the target; then the column that says most of the target
with it once more, finely, as a single set has little noise; then sets of columns, coarsely: with a target two columns
and the target, without one pairs. Where there are more sets than the noise can bear, all pairs are counted very
coarsely before, and those sets are taken whose columns depend most on one another, by what that released. Tables of
more than 200 columns go by dependence on the target alone.
"""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final, Literal

from evomix.marginals.denoising import coarse_cells

MOST_SETS, SETS_PER_COLUMN = 60, 3
"""Sets of the last stage, whichever allows more; each more makes all others noisier."""
ONCE_MORE: Final = 0.15
"""Share of the most telling column (benchmarks/results/most_telling.md)."""
MOST_PAIRS: Final = 20_000
"""Most pairs that are counted to see which depend on one another (200 columns); of more, noise is all one sees."""
Kind = Literal["columns", "with_target", "most_telling", "coarse_pairs", "sets"]


@dataclass(frozen=True, slots=True)
class Shape:
    """A table as codes; all of it public.

    Attributes:
        sizes: number of codes of each column.
        ordered: whether neighbouring codes are near.
        missing: whether the last code means "missing".
        target: position of the column that a later model will predict; None where there is none.
    """

    sizes: tuple[int, ...]
    ordered: tuple[bool, ...]
    missing: tuple[bool, ...]
    target: int | None

    @property
    def twice(self) -> tuple[int, ...]:
        """Columns that are counted by themselves twice, finely and coarsely."""
        return tuple(j for j, size in enumerate(self.sizes) if self.ordered[j] and coarse_cells(size) is not None)

    @property
    def others(self) -> tuple[int, ...]:
        """All columns but the target."""
        return tuple(j for j in range(len(self.sizes)) if j != self.target)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs of columns that are not the target."""
        return tuple(combinations(self.others, 2))

    @property
    def is_wide(self) -> bool:
        """Whether there are more pairs of columns than sets that can be counted finely."""
        return comb(len(self.others), 2) > MOST_SETS


@dataclass(frozen=True, slots=True)
class Stage:
    """One release.

    Attributes:
        kind: what is counted.
        blocks: how many column sets.
        share: of the budget, as a share of 1/σ².
    """

    kind: Kind
    blocks: int
    share: float


def stages_of(shape: Shape) -> tuple[Stage, ...]:
    """Return the stages of a table; their shares sum to 1. Fixed before a record is counted."""
    columns, pairs = len(shape.sizes), comb(len(shape.others), 2)
    weights: list[tuple[Kind, int, float]] = [("columns", columns + len(shape.twice), 0.1)]
    if shape.target is not None and columns > 1:
        weights.append(("with_target", columns - 1, 0.2))
    once_more = ONCE_MORE if shape.target is not None and pairs else 0.0  # needs two columns to choose from
    if once_more:
        weights.append(("most_telling", 1, once_more))
    looked_for = shape.is_wide and pairs <= MOST_PAIRS
    if looked_for:
        weights.append(("coarse_pairs", pairs, 0.2))
    if pairs:
        sets = min(pairs, max(MOST_SETS, SETS_PER_COLUMN * columns))
        weights.append(("sets", sets, (0.5 if looked_for else 0.7) - once_more))
    total = sum(share for _, _, share in weights)
    return tuple(Stage(kind, blocks, share / total) for kind, blocks, share in weights)
