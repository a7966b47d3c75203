from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.evaluation import marginals
from evomix.evaluation.binning import Cells
from evomix.evaluation.marginals import (
    column_sets,
    independent_distances,
    marginal_distances,
    total_variation,
)


def by_definition(first, second, sizes):
    total = 0.0
    for cell in product(*map(range, sizes)):
        p = np.mean([tuple(row) == cell for row in first.tolist()])
        q = np.mean([tuple(row) == cell for row in second.tolist()])
        total += abs(p - q)
    return total / 2


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_total_variation_is_its_definition_dense_and_sparse(seed, way):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, way).tolist()
    first, second = (rng.integers(0, sizes, (rng.integers(1, 20), way)) for _ in range(2))
    expected = by_definition(first, second, sizes)
    assert total_variation(first, second, sizes) == pytest.approx(expected, abs=1e-12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marginals, "DENSE_CELLS", 0)
        assert total_variation(first, second, sizes) == pytest.approx(expected, abs=1e-12)


def test_huge_domains_do_not_overflow():
    sizes = [2**31, 2**31, 2**31]
    first = np.array([[2**31 - 1, 5, 7], [1, 2, 3]])
    assert total_variation(first, first, sizes) == 0.0
    assert total_variation(first, first + np.array([0, 0, 1]), sizes) == 1.0


def test_all_sets_or_a_seeded_sample_without_repeats():
    assert column_sets(4, 2, 6, np.random.default_rng(0)) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    sample = column_sets(60, 3, 200, np.random.default_rng(1))
    assert len(set(sample)) == 200
    assert all(i < j < k for i, j, k in sample)
    assert sample == column_sets(60, 3, 200, np.random.default_rng(1))


def test_shuffling_keeps_columns_and_breaks_relations():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 4, 4000)
    cells = Cells(np.column_stack([x, x]), (4, 4))
    assert marginal_distances(cells, cells, [(0, 1)]) == 0.0
    apart = independent_distances(cells, cells, [(0, 1)], rng)[0]
    assert apart == pytest.approx(0.75, abs=0.03)
