"""Exact nearest-neighbour search against the ways not taken, in one run: ``python benchmarks/neighbors.py``.

Tables: 20,000 candidates × 100,000 records, half the columns numbers, half categories, one with 5,000 values.
Rivals that would take minutes search a part of the records, and their search time is scaled up. The tree of
one-hot columns needs about 2 GB.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from evomix.neighbors.tabular import CATEGORY, NUMBER, TabularIndex
from evomix.neighbors.vectors import VectorIndex
from measuring import printed

Table = NDArray[np.float32]
LARGE_CATEGORY = 5000


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def mixed_table(rows: int, kinds: NDArray[np.uint8], rng: np.random.Generator) -> Table:
    """Correlated columns: numbers in [0, 1], categories of 2 to 30 values, the second of 5,000, all skewed."""
    loadings = np.random.default_rng(7).normal(size=(3, len(kinds)))
    latent = rng.normal(size=(rows, 3)) @ loadings * 0.5 + rng.normal(size=(rows, len(kinds)))
    share = np.clip(latent / 6 + 0.5, 0, 0.9999)
    values = np.random.default_rng(8).integers(2, 31, len(kinds))
    values[1] = LARGE_CATEGORY
    return np.where(kinds == CATEGORY, np.floor(share**2 * values), share).astype(np.float32)


def one_hot(table: Table, kinds: NDArray[np.uint8], weights: Table, values: NDArray[np.int64]) -> Table:
    """Columns whose squared Euclidean distance is the mixed one: w·1[x ≠ y] is two cells of √(w/2)."""
    parts = []
    for j, kind in enumerate(kinds):
        if kind == NUMBER:
            parts.append(table[:, j : j + 1] * np.sqrt(weights[j]))
            continue
        cells = np.zeros((len(table), values[j]), np.float32)
        cells[np.arange(len(table)), table[:, j].astype(int)] = np.sqrt(weights[j] / 2)
        parts.append(cells)
    return np.concatenate(parts, axis=1)


def blocked_product(queries: Table, candidates: Table) -> NDArray[np.int64]:
    """Float32 matrix product and argmin; not exact, shown for its speed."""
    squares = np.einsum("ij,ij->i", candidates, candidates)
    blocks = [queries[start : start + 1000] for start in range(0, len(queries), 1000)]
    return np.concatenate([(squares - 2 * block @ candidates.T).argmin(axis=1) for block in blocks])


def compare_tables(columns: int, candidates: int, records: int) -> None:
    rng = np.random.default_rng(0)
    kinds = (np.arange(columns) % 2).astype(np.uint8)
    weights = np.where(kinds == CATEGORY, 0.5, 1.0).astype(np.float32)
    rows, queries = mixed_table(candidates, kinds, rng), mixed_table(records, kinds, rng)
    index = TabularIndex(rows, kinds=kinds, weights=weights)
    index.nearest(queries[:1])  # compiled, or loaded from the cache
    build = seconds(lambda: TabularIndex(rows, kinds=kinds, weights=weights))
    ours = seconds(lambda: index.nearest(queries))

    values = np.maximum(rows.max(axis=0), queries.max(axis=0)).astype(int) + 1
    part = min(records, 1000)
    wide = one_hot(rows, kinds, weights, values)
    product = seconds(lambda: blocked_product(one_hot(queries[:part], kinds, weights, values), wide))
    product *= records / part

    few = min(records, 20)
    wide_queries = one_hot(queries[:few], kinds, weights, values)
    start = time.perf_counter()
    tree = cKDTree(wide)
    tree_build = time.perf_counter() - start
    searched = seconds(lambda: tree.query(wide_queries, workers=-1)) * records / few
    print(
        f"tables   {columns:3} columns: {ours:6.2f} s (build {build:.2f} s); "
        f"one-hot product {product / ours:6.1f} times as long, k-d tree {(tree_build + searched) / ours:6.1f} times"
    )


def compare_vectors(dimension: int, candidates: int, records: int, metric: str) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(candidates, dimension)).astype(np.float32)
    queries = rng.normal(size=(records, dimension)).astype(np.float32)
    index = VectorIndex(rows, metric=metric)
    index.nearest(queries[:1])
    ours = seconds(lambda: index.nearest(queries, 1))
    ours_many = seconds(lambda: index.nearest(queries, 8))
    product = seconds(lambda: blocked_product(queries, rows))
    wide = rows.astype(np.float64)
    exact = seconds(lambda: blocked_product(queries[:1000].astype(np.float64), wide)) * records / 1000
    print(
        f"vectors {dimension:4} {metric:6}: {ours:6.2f} s, 8 nearest {ours_many:.2f} s; inexact float32 product "
        f"{product / ours:.2f} times as long, inexact float64 product {exact / ours:.2f} times"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=20_000)
    parser.add_argument("--records", type=int, default=100_000)
    sizes = parser.parse_args()
    for columns in (7, 15, 40):
        compare_tables(columns, sizes.candidates, sizes.records)
    for metric in ("l2", "cosine"):
        compare_vectors(384, sizes.candidates // 2, sizes.records // 5, metric)


if __name__ == "__main__":
    with printed("neighbors", command="python benchmarks/neighbors.py"):
        main()
