"""The generator network of GEM: fixed noise through residual blocks to a mixture of product distributions."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from evomix.bench.rivals.pair_counts import Pair, Shares
from evomix.core.errors import EnvironmentFailure

LEARNING_RATE: Final = 1e-3
_LEAST_RATE: Final = 1e-8
"""Where a fit's cosine decay ends."""


class ProductMixture:
    """As many product distributions as there are rows of noise, all weighing the same.

    Args:
        sizes: number of cells of each column.
        seed: of the noise and the first weights.
        components: product distributions, at least 2.
        noise: columns of the noise.
        hidden: units of each residual block.

    Raises:
        EnvironmentFailure: torch is not installed.
    """

    def __init__(self, sizes: Sequence[int], *, seed: int, components: int, noise: int, hidden: Sequence[int]) -> None:
        self._torch = torch = load_torch()
        self._sizes = list(sizes)
        self._layers: list[tuple[Any, Any]] = []
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._noise = torch.randn(components, noise)
            width = noise
            for units in hidden:
                # The batch is always the same, so its own mean and variance are all that is needed.
                self._layers.append(
                    (torch.nn.Linear(width, units), torch.nn.BatchNorm1d(units, track_running_stats=False))
                )
                width += units
            self._last = torch.nn.Linear(width, sum(sizes))
        self._optimiser = torch.optim.Adam(self._parameters(), lr=LEARNING_RATE)
        self._sums: list[Any] = []
        self._mass = 0.0

    def shares(self) -> Shares:
        """Return the share of each cell in each component, float32 (components, all cells)."""
        with self._torch.no_grad():
            return np.asarray(self._torch.cat(self._blocks(), dim=1).numpy())

    def fit(
        self,
        targets: Callable[[], tuple[Sequence[Pair], Shares]],
        *,
        steps: int,
        threshold: float = 0.0,
        most: int | None = None,
    ) -> int:
        """Move two-way marginals towards targets with Adam, by the norm of what is wrong over its length.

        Args:
            targets: called at every step: pairs of columns and, one after the other, the shares of their cells.
            steps: at most so many, over which the rate decays by a cosine.
            threshold: cells with a smaller error are left alone; the fit ends when all have.
            most: cells of a step, those with the largest errors; None for all.

        Returns:
            The steps made.
        """
        torch = self._torch
        for step in range(steps):
            pairs, wanted = targets()
            errors = self._answers(pairs) - torch.from_numpy(wanted)
            size = errors.detach().abs()
            wrong = torch.nonzero(size > threshold)[:, 0]
            if not len(wrong):
                return step
            if most is not None and len(wrong) > most:
                wrong = torch.topk(size, most, sorted=False).indices
            loss = torch.linalg.vector_norm(errors[wrong]) / len(wrong)
            self._optimiser.param_groups[0]["lr"] = _rate(step, steps)
            self._optimiser.zero_grad()
            loss.backward()
            self._optimiser.step()
        return steps

    def remember(self, keep: float) -> None:
        """Take the weights into a running mean in which those of the call before count ``keep`` times as much."""
        now = [each.detach().clone() for each in self._parameters()]
        self._sums = [keep * old + new for old, new in zip(self._sums, now, strict=True)] if self._sums else now
        self._mass = keep * self._mass + 1.0

    def recall(self) -> None:
        """Return to the running mean of weights, at least one of which was taken."""
        with self._torch.no_grad():
            for each, total in zip(self._parameters(), self._sums, strict=True):
                each.copy_(total / self._mass)

    def _parameters(self) -> list[Any]:
        layers: Iterable[Any] = [part for pair in self._layers for part in pair] + [self._last]
        return [weights for layer in layers for weights in layer.parameters()]

    def _blocks(self) -> list[Any]:
        found = self._noise
        for linear, norm in self._layers:
            found = self._torch.cat([self._torch.relu(norm(linear(found))), found], dim=1)
        return [self._torch.softmax(part, dim=1) for part in self._last(found).split(self._sizes, dim=1)]

    def _answers(self, pairs: Sequence[Pair]) -> Any:
        blocks = self._blocks()
        return self._torch.cat([(blocks[i].T @ blocks[j]).flatten() for i, j in pairs]) / len(self._noise)


def load_torch() -> Any:
    """Return the module torch.

    Raises:
        EnvironmentFailure: it is not installed.
    """
    try:
        import torch  # noqa: PLC0415  (optional, and seconds to load)
    except ImportError as error:
        raise EnvironmentFailure(
            f'expected torch for GEM, found {error}; pip install "evomix[baselines]", or leave GEM out'
        ) from error
    return torch


def _rate(step: int, steps: int) -> float:
    return _LEAST_RATE + (LEARNING_RATE - _LEAST_RATE) * (1.0 + math.cos(math.pi * step / steps)) / 2.0
