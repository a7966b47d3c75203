"""What a run is once its releases are in, and the rows that are made of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from evomix.core.arrays import FloatArray, Population
from evomix.evolution.harvest import harvest
from evomix.evolution.state import State
from evomix.experiment.design import Design
from evomix.experiment.inputs import Inputs
from evomix.experiment.pooled_law import PooledLaw
from evomix.experiment.selecting import draw_rows, selection_for
from evomix.experiment.spec import RunSpec


@dataclass(frozen=True, slots=True)
class Finished:
    """A run whose releases are all in.

    Attributes:
        spec: the resolved specification.
        inputs: schema, modality and what was warned about.
        design: plan and account.
        state: the last public state.
        privacy: the content of privacy.json.
        warnings: sentences for the user.
        seed: seed of the public randomness.
        pooled: the law of the rows, where it is that of all releases together.
    """

    spec: RunSpec
    inputs: Inputs
    design: Design
    state: State
    privacy: dict[str, Any]
    warnings: tuple[str, ...]
    seed: int
    pooled: PooledLaw | None = None

    def sample(self, rows: int, seed: int) -> Population:
        """Return ``rows`` synthetic records: post-processing of what was released; costs nothing."""
        if self.design.counted is not None:
            return self.design.counted.sample(rows, seed)
        rng = np.random.default_rng([self.seed, seed])
        modality = self.inputs.modality
        candidates, shares = self._law(rows, rng)
        shares = modality.balanced(shares, candidates)
        kept = np.flatnonzero(shares)  # what has no share has no cell either: others stand for what is near it
        candidates = candidates[kept]
        return harvest(
            candidates,
            draw_rows(shares[kept], rows, rng, modality=modality, candidates=candidates),
            generator=modality.generator,
            embedder=modality.embedder,
            spares=modality.spares,
            rng=rng,
        )

    def _law(self, rows: int, rng: np.random.Generator) -> tuple[Population, FloatArray]:
        """Return candidates and the law that rows are drawn from them by."""
        if self.pooled is not None:
            return self.pooled.candidates, self.pooled.shares
        assert self.state.release is not None
        selection = selection_for(self.spec, self.design.selection, self.inputs.modality)
        return self.state.candidates, selection.shares(self.state.release, self.state.candidates, rows, rng)
