"""Tables that are made, so that what is in them is known: a parity, and a random causal model.

Different seeds are samples of one population each.
"""

import math
from typing import Final

import numpy as np
import pyarrow as pa
from scipy.stats import norm

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.modalities.tabular.schema import Column, Schema

LABEL: Final = "label"
FLIPPED: Final = 0.05
"""Share of the parity labels that say the opposite."""

_POPULATION: Final = 7_041
"""Seed of the causal model, whatever the sample."""
_MOST_PARENTS: Final = 3
_NOISE: Final = 0.4
"""Standard deviation of a column's own noise; what follows from its parents has about 1."""
_SPREAD: Final = math.hypot(1.0, _NOISE)
_REACH: Final = 4.0
"""Latent values are cut here."""
_KINDS: Final = ("number", "category", "integer", "boolean")
_MOVED_EVERY: Final = 3
"""One column of so many has another mechanism elsewhere; the label has one too."""
_LABELS: Final = (("low", "middle", "high"), (0.5, 0.3, 0.2))
"""Values and about how often they are."""


def xor_schema(columns: int = 10) -> Schema:
    """Return the public schema of :func:`make_xor`: booleans ``x0``, ``x1``, … and the category ``label``."""
    _check_size("columns", columns)
    bits = [Column(f"x{j}", "boolean") for j in range(columns)]
    return Schema((*bits, Column(LABEL, "category", values=("even", "odd"))))


def make_xor(n: int, *, columns: int = 10, order: int = 3, seed: int) -> pa.Table:
    """Return rows whose label is the parity of the first ``order`` columns, 5 % flipped; the other columns are noise.

    Fair coins, so every marginal that lacks the label or one of those columns is uniform: a method that measures fewer
    than ``order + 1`` columns together sees nothing.

    Args:
        n: rows.
        columns: boolean columns beside the label.
        order: how many of them decide.
        seed: of the sample.

    Raises:
        SpecError: a size below 1, or more deciding columns than there are.
    """
    _check_size("n", n)
    _check_size("order", order)
    schema = xor_schema(columns)
    if order > columns:
        raise SpecError(f"expected order ≤ columns, got order={order}, columns={columns}")
    rng = np.random.default_rng([seed, 0])
    bits = rng.random((n, columns)) < 0.5
    odd = (bits[:, :order].sum(axis=1) % 2 == 1) ^ (rng.random(n) < FLIPPED)
    cells = [pa.array(bits[:, j]) for j in range(columns)]
    label = pa.array(("even", "odd")).take(pa.array(odd.astype(np.int64)))
    return pa.table([*cells, label], names=list(schema.names))


def scm_schema(columns: int = 12) -> Schema:
    """Return the public schema of :func:`make_scm`: numbers, categories, integers and booleans in turn, and a label."""
    _check_size("columns", columns)
    return Schema((*map(_declared, range(columns)), Column(LABEL, "category", values=_LABELS[0])))


def make_scm(n: int, *, columns: int = 12, seed: int, shift: float = 0.0) -> pa.Table:
    """Return rows of a random structural causal model.

    Each column has a latent value: non-linear functions of up to three earlier ones' latent values, and noise of its
    own. Numbers and integers show it on their scale; categories and booleans cut it into ranges of fixed shares, and
    pass on a score of the category alone. The label cuts what follows from three of the columns. Graph and mechanisms
    are the same for every seed, and the first columns are the same for every ``columns``.

    Args:
        n: rows.
        columns: columns beside the label.
        seed: of the sample.
        shift: 0 for the population itself; up to 1 for other places, where every third column and the label follow
            mechanisms that differ the more.

    Raises:
        SpecError: a size below 1, or a shift outside [0, 1].
    """
    _check_size("n", n)
    if not 0.0 <= shift <= 1.0:
        raise SpecError(f"expected a shift from 0 to 1, got shift={shift}")
    schema = scm_schema(columns)
    rng = np.random.default_rng([seed, 1])
    latent = np.empty((n, columns + 1))
    cells: list[pa.Array] = []
    for j, column in enumerate(schema.columns):
        is_label = j == columns
        # The label's mechanism is numbered apart, so that tables of any width share their first columns.
        mechanism = np.random.default_rng([_POPULATION, int(is_label), j])
        moved = shift if is_label or j % _MOVED_EVERY == _MOVED_EVERY - 1 else 0.0
        noise = rng.standard_normal(n)
        value = noise if j == 0 else _follow(latent[:, :j], mechanism, moved) + _NOISE * noise
        latent[:, j], shown = _show(column, np.clip(value, -_REACH, _REACH), mechanism)
        cells.append(shown)
    return pa.table(cells, names=list(schema.names))


def _declared(j: int) -> Column:
    kind = _KINDS[j % len(_KINDS)]
    if kind == "number":
        return Column(f"c{j}", "number", 10.0, 90.0, multiple_of=0.1)
    if kind == "integer":
        return Column(f"c{j}", "integer", 0.0, 250.0)
    if kind == "boolean":
        return Column(f"c{j}", "boolean")
    return Column(f"c{j}", "category", values=tuple(f"v{code}" for code in range(3 + j % 5)))


def _follow(earlier: FloatArray, mechanism: np.random.Generator, moved: float) -> FloatArray:
    """Return what follows from a few of the earlier columns, at least one: mean and variance about 0 and 1.

    Draws from ``mechanism`` in the same way whatever ``moved`` is.
    """
    width = earlier.shape[1]
    parents = mechanism.choice(width, min(_MOST_PARENTS, width), replace=False)
    here, there = mechanism.standard_normal((2, len(parents), 3))
    weights = (1.0 - moved) * here / np.linalg.norm(here) + moved * there / np.linalg.norm(there)
    weights /= np.linalg.norm(weights)
    centre = moved * mechanism.uniform(-1.0, 1.0)
    return np.asarray(centre + np.einsum("npf,pf->n", _bent(earlier[:, parents]), weights))


def _bent(values: FloatArray) -> FloatArray:
    """Return three functions of latent values, float64 (n, parents, 3): straight, wave and bowl."""
    return np.stack([values, math.sqrt(2.0) * np.sin(2.0 * values), (values**2 - 1.0) / math.sqrt(2.0)], axis=2)


def _show(column: Column, value: FloatArray, mechanism: np.random.Generator) -> tuple[FloatArray, pa.Array]:
    """Return what a column passes on and the cells that it shows."""
    if column.type == "number":
        return value, pa.array(np.rint(500.0 + 100.0 * value) / 10.0)
    if column.type == "integer":
        return value, pa.array(np.clip(np.rint(10.0 * np.exp(0.8 * value)), 0.0, 250.0).astype(np.int64))
    count = len(column.values)
    shares = _LABELS[1] if column.name == LABEL else mechanism.dirichlet(np.full(count, 3.0))
    cuts = _SPREAD * norm.ppf(np.clip(np.cumsum(shares)[:-1], 0.0, 1.0))
    ranges = np.searchsorted(cuts, value)
    # Neighbouring ranges get codes and scores that are in no order: categories, not levels.
    code = ranges if column.name == LABEL else mechanism.permutation(count)[ranges]
    scores = mechanism.standard_normal(count)
    cells = pa.array(code == 1) if column.type == "boolean" else pa.array(column.values).take(pa.array(code))
    return scores[code], cells


def _check_size(name: str, size: int) -> None:
    if size < 1:
        raise SpecError(f"expected {name} of at least 1, got {name}={size}")
