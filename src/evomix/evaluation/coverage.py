"""Which real categories a synthetic table holds at all."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evomix.evaluation.binning import Cells
from evomix.evaluation.columns import ColumnLike, is_number_like, labels

NAMED_AT_MOST = 5
UNLIKELY = 0.05


@dataclass(frozen=True, slots=True)
class Coverage:
    """Categories of one column.

    Attributes:
        column: its name.
        real: number of public values that occur in the real table.
        covered: number of those that occur in the synthetic table.
        share: covered / real; 1 when the real table has none.
        absent: the values that are lacking, most frequent first, at most five.
        notable: whether as many real rows would hold the most frequent of them with probability above 95 %.
    """

    column: str
    real: int
    covered: int
    share: float
    absent: tuple[str, ...]
    notable: bool

    def warning(self) -> str:
        """Return the sentence for a report."""
        named = ", ".join(repr(value) for value in self.absent)
        more = ", …" if self.real - self.covered > len(self.absent) else ""
        return (
            f"categories lost: {self.real - self.covered} of {self.real} values of column {self.column!r} "
            f"never occur in the synthetic table ({named}{more})"
        )


def category_coverage(real: Cells, synthetic: Cells, columns: Sequence[ColumnLike]) -> tuple[Coverage, ...]:
    """Return the coverage of each category and boolean column. Reads real rows: not private."""
    return tuple(
        _coverage(j, real, synthetic, column) for j, column in enumerate(columns) if not is_number_like(column)
    )


def _coverage(j: int, real: Cells, synthetic: Cells, column: ColumnLike) -> Coverage:
    words = labels(column)
    counts = np.bincount(real.codes[:, j], minlength=real.sizes[j])[: len(words)]
    made = np.bincount(synthetic.codes[:, j], minlength=real.sizes[j])[: len(words)]
    occurring = int((counts > 0).sum())
    lacking = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code] and not made[code]]
    covered = occurring - len(lacking)
    largest = float(counts[lacking[0]]) / len(real.codes) if lacking else 0.0
    chance_absent = (1.0 - largest) ** len(synthetic.codes)
    return Coverage(
        column=column.name,
        real=occurring,
        covered=covered,
        share=covered / occurring if occurring else 1.0,
        absent=tuple(words[code] for code in lacking[:NAMED_AT_MOST]),
        notable=bool(chance_absent < UNLIKELY),
    )
