"""Fitting a graphical model to noisy marginals.

Of all distributions with the given total whose marginals come closest to the measured ones, in weighted squares, the
fit is a Markov random field on the measured marginals. Source: McKenna, Sheldon and Miklau (2019), Graphical-model
based estimation and inference for differential privacy: entropic mirror descent with a line search (algorithm 2). Steps
begin ahead, where the last one points (Nesterov 1983), and from rest again when the loss rises (O'Donoghue and Candès
2015): the loss that plain steps reach after 3,000 evaluations, these reach after 500. Every fit starts from even
columns: from the last round's potentials, as AIM's authors do, it ends at a larger loss after as many steps.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.bench.rivals.graphical_model import GraphicalModel
from evomix.bench.rivals.junction_tree import Clique, junction_tree
from evomix.bench.rivals.tree_program import TreeProgram
from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError

STEPS: Final = 1000
"""Most mirror-descent steps of a fit (McKenna et al. 2022 take 1,000 a round)."""

_SUFFICIENT: Final = 0.5
_HALVINGS: Final = 25
"""The line search of McKenna et al. (2019): a step must keep half of what its slope promises."""

_GROWTH: Final = 1.1
"""How much longer the next step may be after one that was accepted at once."""

_WINDOW: Final = 50
_TOLERANCE: Final = 1e-3
"""A fit ends early when this many steps lowered the loss by less than this share of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """A noisy answer.

    Attributes:
        clique: its columns, ascending.
        values: counts, float64 (cells,).
        weight: of each squared distance, one or float64 (cells,); 1/σ² for noise of standard deviation σ.
    """

    clique: Clique
    values: FloatArray
    weight: float | FloatArray


def estimate(
    measurements: Iterable[Measurement],
    sizes: Sequence[int],
    *,
    total: float,
    steps: int = STEPS,
) -> GraphicalModel:
    """Return the model that fits the measurements best. Post-processing; costs nothing.

    Args:
        measurements: at least one; several of one marginal are averaged by weight.
        sizes: number of cells of each column.
        total: number of rows, known.
        steps: most steps.

    Raises:
        SpecError: there is no row.
    """
    if not total > 0.0:
        raise SpecError(f"A graphical model expects at least one row; found total={total!r}. Give a table with rows.")
    found = _averaged(measurements)
    cliques = tuple(found)
    program = TreeProgram(junction_tree(cliques, sizes), cliques, sizes=sizes, total=total)
    values = np.concatenate([found[clique].values for clique in cliques])
    weights = np.concatenate([np.broadcast_to(found[c].weight, found[c].values.shape) for c in cliques])

    def at(potentials: FloatArray) -> _Point:
        marginals = program.marginals(potentials)
        slope = weights * (marginals - values)
        return _Point(potentials, marginals, slope, float(slope @ (marginals - values)) / 2.0)

    length = 1.0 / (total * float(weights.max()))
    best = _descend(at, at(np.zeros(len(values))), length=length, steps=steps)
    program.marginals(best.potentials)
    return GraphicalModel(program.tree, program.beliefs())


def _averaged(measurements: Iterable[Measurement]) -> dict[Clique, Measurement]:
    found: dict[Clique, Measurement] = {}
    for one in measurements:
        if one.clique in found:
            other = found[one.clique]
            weight = one.weight + other.weight
            values = (one.weight * one.values + other.weight * other.values) / weight
            found[one.clique] = Measurement(one.clique, values, weight)
        else:
            found[one.clique] = one
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """Log-potentials, their marginals, the loss there and its slope by the marginals."""

    potentials: FloatArray
    marginals: FloatArray
    slope: FloatArray
    loss: float


def _descend(at: Callable[[FloatArray], _Point], first: _Point, *, length: float, steps: int) -> _Point:
    """Return a point of small loss.

    Args:
        at: makes a point of log-potentials.
        first: where to begin.
        length: of the first step, to be halved until it is short enough.
        steps: most steps.
    """
    current, before, momentum, history = first, first.potentials, 1.0, [first.loss]
    while len(history) <= steps:
        following = (1.0 + math.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = current
        if momentum > 1.0:
            ahead = at(current.potentials + (momentum - 1.0) / following * (current.potentials - before))
        reached, used = _search(at, ahead, length)
        if reached is None:
            return current
        length = used * _GROWTH if used == length else used
        if reached.loss > current.loss:
            before, momentum = current.potentials, 1.0
            continue
        before, current, momentum = current.potentials, reached, following
        history.append(current.loss)
        if len(history) > _WINDOW and history[-1 - _WINDOW] - current.loss <= _TOLERANCE * current.loss:
            break
    return current


def _search(at: Callable[[FloatArray], _Point], origin: _Point, length: float) -> tuple[_Point | None, float]:
    """Return the point that a step along the slope reaches, and its length; None where no step is short enough."""
    for _ in range(_HALVINGS):
        reached = at(origin.potentials - length * origin.slope)
        promised = float(origin.slope @ (origin.marginals - reached.marginals))
        if origin.loss - reached.loss >= _SUFFICIENT * promised:
            return reached, length
        length /= 2.0
    return None, length
