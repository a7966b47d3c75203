"""Exact nearest neighbours of embedding vectors: a matrix product proposes, direct arithmetic decides.

A float32 matrix product gives all distances at once, but its last bits change with the number of rows it is
called with, and it cancels badly between close candidates. So it is used only to rule candidates out, by an
error bound that holds for any order of summation; those left are compared by ``Σ_j (x_j − c_j)²`` in float64,
summed in one fixed order. The answer for a record is therefore a function of the record and the candidates.

**The bound.** Let m be a centre, a = x − m, b = c − m, A = ‖a‖, B = ‖b‖, k the dimension, u = 2⁻²⁴ and
v = 2⁻⁵³ the units of rounding, γ_k = k·u/(1 − k·u), and s = B² − 2·fl(â·b̂), where â and b̂ are a and b rounded
to float32. In exact arithmetic s + A² = ‖x − c‖². Away from that,

* rounding a and b moves their inner product by at most (2u' + u'²)·A·B, where u' = u + 2v covers the float64
  subtraction before it;
* the product then errs by at most γ_k·Σ|â_j·b̂_j| ≤ γ_k·(1 + u')²·A·B, in any order, with or without fused
  operations (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., §3.1);
* B², s and the deciding sum, itself at most 2(A² + B²), are computed in float64 and err by less than
  8(k + 8)·v·(A² + B²) together;
* vectors are scaled by a power of two so that candidates' coordinates are at most 1, and underflow (even
  flushed to zero) then adds at most k·2⁻¹²⁰·(1 + A).

The first two sum to less than γ_{k+3}·A·B and count twice in s; a factor 1.01 covers the rounding of A, B and
of the bound itself. With E the whole, a candidate is ruled out if s − E exceeds the count-th smallest s + E.
Then ``count`` others are strictly nearer in the deciding arithmetic too, so ruling out never changes the
answer, not even at a tie.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError
from evomix.neighbors.blocks import for_each_block
from evomix.neighbors.centring import power_of_two
from evomix.neighbors.copies import find_copies
from evomix.neighbors.shortlist import Bound, decide, norms, unit_rows

_SCORES = 1 << 23
"""Float32 scores held at a time (32 MiB)."""

_ROWS = 4096
"""Most records in one matrix product."""

_LARGEST_COORDINATE = 1e150
"""Candidates beyond it would overflow the centre's sum."""

_LARGEST_RADIUS = 2.0**60
"""A record this far out, in units of the candidates' spread, is compared directly with every candidate."""


class VectorIndex:
    """Candidate vectors, prepared for exact search.

    Args:
        candidates: floats (d, k), d ≥ 1, k < 2²⁰, finite and at most 1e150 in size.
        metric: "l2", Euclidean distance; or "cosine", 1 − cos, compared as the squared gap 2·(1 − cos) of
            unit vectors. Under "cosine" a zero vector is at distance 1 from every other vector and 0 from
            zero vectors; positive multiples of a vector tie with it exactly if the factor is a power of two,
            else up to the rounding of their norms.

    Raises:
        SpecError: an argument is outside the ranges above.
    """

    def __init__(self, candidates: NDArray[Any], *, metric: Literal["l2", "cosine"] = "l2") -> None:
        _check(candidates, metric)
        self._cosine = metric == "cosine"
        kept = np.ascontiguousarray(candidates, dtype=np.float32 if candidates.dtype == np.float32 else np.float64)
        if self._cosine:
            kept = unit_rows(kept)
        self._count, self._dimension = kept.shape
        self._copies = find_copies(kept)
        self._distinct = kept[self._copies.first]
        self._centre = self._distinct.mean(axis=0, dtype=np.float64)
        # Only proposals are centred and scaled: deciding takes gaps of the vectors as they came.
        centred = self._distinct - self._centre
        self._scale = power_of_two(float(np.abs(centred).max(initial=0.0)))
        centred *= self._scale
        self._radii = norms(centred)
        self._proposers = np.ascontiguousarray(centred.astype(np.float32).T)
        self._zero = -1
        if self._cosine:
            is_zero = ~kept.any(axis=1)
            self._from_zero = np.argsort(~is_zero, kind="stable")  # zero vectors first, each part by position
            for slot in np.flatnonzero(~self._distinct.any(axis=1)):  # distinct, so one at most
                self._zero = int(slot)
                self._radii[slot] = np.inf  # its distance is a rule, which no Euclidean bound knows of

    def nearest(self, queries: NDArray[Any], count: int = 1) -> IntArray:
        """Return the positions of each query's ``count`` nearest candidates, int64 (n, count).

        They are ordered by (distance, position). Total: a query with a coordinate that is not finite is
        equally far from all candidates (under "cosine": counts as a zero vector), never an error. Memory
        beside the answer stays below 256 MiB, however many candidates look alike.

        Args:
            queries: floats (n, k); n may be 0.
            count: how many, from 1 to d.

        Raises:
            SpecError: the dimension differs from the candidates', or ``count`` is out of range.
        """
        if queries.ndim != 2 or queries.shape[1] != self._dimension:
            raise SpecError(
                f"expected queries of shape (n, {self._dimension}), got shape={queries.shape}; "
                "embed queries and candidates alike"
            )
        if not 1 <= count <= self._count:
            raise SpecError(f"expected count from 1 to the {self._count} candidates, got count={count}")
        answer = np.empty((len(queries), count), dtype=np.int64)
        block = max(1, min(_ROWS, _SCORES // max(len(self._distinct), self._dimension)))
        for start in range(0, len(queries), block):
            part = slice(start, start + block)
            self._search(np.ascontiguousarray(queries[part], dtype=np.float64), answer[part])
        return answer

    def _search(self, queries: FloatArray, answer: IntArray) -> None:
        if self._cosine:
            queries = unit_rows(queries)
        with np.errstate(all="ignore"):  # what overflows here is compared directly below
            centred = (queries - self._centre) * self._scale
            radii = norms(centred)
        far = ~(radii <= _LARGEST_RADIUS)
        centred[far], radii[far] = 0.0, np.inf
        # One product on all of BLAS's threads, then the deciding on ours: never both at once.
        products = centred.astype(np.float32) @ self._proposers
        bound = Bound.of(self._dimension)

        def settle(part: slice) -> None:
            decide(
                queries[part],
                radii[part],
                products[part],
                self._distinct,
                self._radii,
                (self._copies.starts, self._copies.members),
                self._scale,
                bound,
                self._zero,
                answer[part],
            )

        for_each_block(settle, rows=len(queries), block=64)
        if self._cosine:
            answer[~queries.any(axis=1)] = self._from_zero[: answer.shape[1]]


def _check(candidates: NDArray[Any], metric: str) -> None:
    if candidates.ndim != 2 or len(candidates) == 0:
        raise SpecError(f"expected candidates of shape (d, k) with d ≥ 1, got shape={candidates.shape}")
    if candidates.shape[1] >= 1 << 20:
        raise SpecError(f"expected dimension below 2**20, got dimension={candidates.shape[1]}; project vectors first")
    if not float(np.abs(candidates).max(initial=0.0)) <= _LARGEST_COORDINATE:  # so written, NaN fails too
        raise SpecError(f"expected candidates that are finite and at most {_LARGEST_COORDINATE:g} in size")
    if metric not in ("l2", "cosine"):
        raise SpecError(f'expected metric "l2" or "cosine", got metric={metric!r}')
