"""The selections of a run: from a release to the next parents, and to the law of the final rows.

Each is a frozen value that holds what it goes by, behind one protocol (:class:`evomix.core.protocols.Selection`).
``SELECTIONS`` maps the names a user may give to them; :func:`make_selection` makes one by name. Post-processing of a
release; costs no privacy.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.core.errors import SpecError
from evomix.core.protocols import Selection
from evomix.core.release import Release
from evomix.selection.denoising import Denoising, shrunk, signed
from evomix.selection.local_search import Chosen, local_search
from evomix.selection.projection import project
from evomix.selection.radius import cluster_radius
from evomix.selection.rank import rank
from evomix.selection.shares import vote_shares
from evomix.selection.subsample import draw_systematic, subsample
from evomix.selection.threshold import NOISE_MULTIPLE, vote_threshold

Vectors = Callable[[Population], NDArray[Any]]
"""From candidates to points, floats (n, k), whose Euclidean distance is that of the votes."""

GEOMETRIC: Final = frozenset({"projection", "gape"})
"""Selections that look at where candidates lie. They move signed votes about, so they need an estimate whose entries
sum to one (:data:`evomix.selection.denoising.BALANCED`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsample:
    """Parents and rows in proportion to the estimated votes; see :mod:`evomix.selection.subsample`."""

    denoise: Denoising = shrunk

    def parents(self, release: Release, candidates: Population, size: int, rng: np.random.Generator) -> IntArray:
        """Return positions of ``size`` parents, int64 (size,)."""
        del candidates
        return subsample(release, size, rng, denoise=self.denoise)

    def shares(self, release: Release, candidates: Population, size: int, rng: np.random.Generator) -> FloatArray:
        """Return the estimated vote shares, float64 (d,), a distribution."""
        del candidates, size, rng
        return vote_shares(release, self.denoise)

    def describe(self, release: Release) -> Mapping[str, Any]:
        """Return nothing: the release says all."""
        del release
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank(Subsample):
    """Parents of the most estimated votes, see :mod:`evomix.selection.rank`; rows in proportion to the votes."""

    def parents(self, release: Release, candidates: Population, size: int, rng: np.random.Generator) -> IntArray:
        """Return positions of ``size`` parents, int64 (size,), best first."""
        del candidates
        return rank(release, size, rng, denoise=self.denoise)


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """Parents and rows from the probability measure nearest to the signed votes, where distances count.

    Negative votes are taken off their neighbours' votes, not cut at zero: see :mod:`evomix.selection.projection`.
    Source: González et al. (2025).

    Attributes:
        vectors: gives the candidates' points.
        denoise: the signed estimate.
    """

    vectors: Vectors
    denoise: Denoising = signed

    def parents(self, release: Release, candidates: Population, size: int, rng: np.random.Generator) -> IntArray:
        """Return ``size`` positions drawn systematically from the projected measure, int64 (size,)."""
        return draw_systematic(self.shares(release, candidates, size, rng), size, rng)

    def shares(self, release: Release, candidates: Population, size: int, rng: np.random.Generator) -> FloatArray:
        """Return the projected measure, float64 (d,), a distribution."""
        del size, rng
        return project(self.vectors(candidates), self.denoise(release), units=1.0)

    def describe(self, release: Release) -> Mapping[str, Any]:
        """Return nothing: the release says all."""
        del release
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gape:
    """Parents that stand for all votes at least transport cost: see :mod:`evomix.selection.local_search`.

    A candidate may be selected when its unbiased estimate lies above the threshold τ, which says whether it has votes
    at all; the votes that are moved are those of ``denoise``. Where no more candidates than parents may be selected,
    all are, and repeated by the votes that flow to them: the population keeps its size, and what stands for more votes
    is varied more often. Where none may be, or where more votes are missing than there are, nothing can be moved: the
    parents are then those of :class:`Rank`, the rows those of :class:`Subsample`, and :meth:`describe` says so.

    Attributes:
        vectors: gives the candidates' points.
        denoise: the signed estimate.
        threshold: τ in standard deviations of the noise, at least 0.
        radius: R, the distance of clusters, above 0; ``None`` takes it from the candidates
            (:func:`evomix.selection.radius.cluster_radius`).
    """

    vectors: Vectors
    denoise: Denoising = signed
    threshold: float = NOISE_MULTIPLE
    radius: float | None = None

    def parents(self, release: Release, candidates: Population, size: int, rng: np.random.Generator) -> IntArray:
        """Return positions of ``size`` parents, int64 (size,): each selected candidate once at least."""
        chosen = self._chosen(release, candidates, size, rng)
        if chosen is None:
            return rank(release, size, rng, denoise=self.denoise)
        missing = size - chosen.indices.size
        if missing == 0:
            return chosen.indices
        # Each stands there once already, so that its share of all is its share of the votes as far as that goes.
        further = np.maximum(size * chosen.weights / chosen.weights.sum() - 1.0, 0.0)
        return np.concatenate([chosen.indices, chosen.indices[draw_systematic(further, missing, rng)]])

    def shares(self, release: Release, candidates: Population, size: int, rng: np.random.Generator) -> FloatArray:
        """Return what flows to each of at most ``size`` selected candidates, float64 (d,), a distribution."""
        chosen = self._chosen(release, candidates, size, rng)
        if chosen is None:
            return vote_shares(release, self.denoise)
        shares = np.zeros(len(candidates))
        shares[chosen.indices] = chosen.weights / chosen.weights.sum()
        return shares

    def describe(self, release: Release) -> Mapping[str, Any]:
        """Return how many candidates lie above the threshold, and why nothing can be moved where that is so."""
        above = int(np.count_nonzero(self._eligible(release)))
        told: dict[str, Any] = {"above_threshold": above}
        if not above:
            told["fallback"] = "no candidate above the threshold"
        elif not self._movable(release):
            told["fallback"] = "no fewer votes missing than there are"
        return told

    def _eligible(self, release: Release) -> NDArray[np.bool_]:
        return np.asarray(release.estimate() > vote_threshold(release, multiple=self.threshold))

    def _movable(self, release: Release) -> bool:
        """Return whether the positive votes can fill the negative ones and something is left to flow."""
        return float(self.denoise(release).sum()) > 0.0

    def _chosen(self, release: Release, candidates: Population, size: int, rng: np.random.Generator) -> Chosen | None:
        eligible = self._eligible(release)
        if not eligible.any() or not self._movable(release):
            return None
        points = self.vectors(candidates)
        chosen = local_search(
            points,
            self.denoise(release) * max(release.units, 1),
            size=size,
            radius=cluster_radius(points, size, rng) if self.radius is None else self.radius,
            threshold=np.where(eligible, -np.inf, np.inf),
            rng=rng,
        )
        return chosen if chosen.indices.size and chosen.weights.sum() > 0.0 else None


SELECTIONS: Final = {"subsample": Subsample, "rank": Rank, "projection": Projection, "gape": Gape}


def make_selection(
    name: str,
    *,
    vectors: Vectors,
    denoise: Denoising,
    threshold: float | None = None,
    radius: float | None = None,
) -> Selection:
    """Return the selection of that name.

    Args:
        name: a key of :data:`SELECTIONS`.
        vectors: gives the candidates' points, where the selection asks for them.
        denoise: how the estimate is made of a release.
        threshold: τ in standard deviations of the noise (gape); ``None`` is the default.
        radius: R (gape); ``None`` takes it from the candidates.

    Raises:
        SpecError: the name is unknown.
    """
    if name == "subsample":
        return Subsample(denoise=denoise)
    if name == "rank":
        return Rank(denoise=denoise)
    if name == "projection":
        return Projection(vectors=vectors, denoise=denoise)
    if name == "gape":
        multiple = NOISE_MULTIPLE if threshold is None else threshold
        return Gape(vectors=vectors, denoise=denoise, threshold=multiple, radius=radius)
    raise SpecError(f"selection must be one of {', '.join(SELECTIONS)}; found selection={name!r}")
