"""Small tables with known relations, shared by the tests of this folder."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Made:
    name: str
    type: str
    values: tuple[str, ...] = ()
    min: float | None = None
    max: float | None = None
    missing: bool = False


X = Made("x", "integer", min=0.0, max=99.0)
Y = Made("y", "number", min=0.0, max=100.0, missing=True)
GROUP = Made("group", "category", values=("lo", "hi", "rare"), missing=True)
FLAG = Made("flag", "boolean", values=("false", "true"))
DAY = Made("day", "date", min=-719_162.0, max=2_932_896.0)
COLUMNS = (X, Y, GROUP, FLAG)


def related_rows(n, seed, *, rare=0.02):
    """y follows x closely, the group says whether x > 50, the flag is independent; some cells are missing."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 100, n).astype(float)
    y = np.clip(x + rng.normal(0, 5, n), 0, 100)
    y[rng.random(n) < 0.05] = np.nan
    group = (x > 50).astype(float)
    group[rng.random(n) < rare] = 2.0
    group[rng.random(n) < 0.02] = np.nan
    return np.column_stack([x, y, group, rng.integers(0, 2, n)])


def independent_rows(n, seed):
    rng = np.random.default_rng(seed)
    rows = related_rows(n, seed)
    return np.column_stack([rng.permutation(rows[:, j]) for j in range(rows.shape[1])])
