import numpy as np
import pytest
from evaluation_tables import Made

from evomix.evaluation.fidelity import fidelity

WIDE = tuple(Made(name, "category", values=tuple(map(str, range(300)))) for name in "ab")


def only_pair(real, synthetic, columns=WIDE, seed=0):
    found = fidelity(real, synthetic, columns, public=None, rng=np.random.default_rng(seed))
    (pair,) = found.pairs
    return pair, [warning for warning in found.warnings if "relations lost" in warning]


def unrelated(n, seed, *, skewed=False):
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, 301) if skewed else np.ones(300)
    return rng.choice(300, (n, 2), p=shares / shares.sum()).astype(float)


def related(n, seed, *, share):
    """The second column repeats the first in a share of the rows."""
    rows = unrelated(n, seed)
    same = np.random.default_rng(seed + 999).random(n) < share
    rows[same, 1] = rows[same, 0]
    return rows


@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("made", [500, 5000, 20_000])
def test_independent_sparse_columns_are_never_called_related(skewed, made):
    for seed in range(5):
        real, synthetic = unrelated(5000, seed, skewed=skewed), unrelated(made, 100 + seed, skewed=skewed)
        pair, warnings = only_pair(real, synthetic, seed=seed)
        assert pair.kept is None
        assert abs(pair.strength) < 0.05
        assert warnings == []


@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_a_sparse_relation_that_was_kept_is_kept(share):
    for seed in range(5):
        pair, warnings = only_pair(related(5000, seed, share=share), related(5000, 100 + seed, share=share), seed=seed)
        assert pair.kept > 0.8
        assert warnings == []


@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_a_sparse_relation_that_was_lost_is_named(share):
    for seed in range(5):
        pair, warnings = only_pair(related(5000, seed, share=share), unrelated(5000, 100 + seed), seed=seed)
        assert pair.kept < 0.1
        assert "relations lost: 1 of 1 related pairs" in warnings[0]
        assert "a with b" in warnings[0]


def test_half_of_a_relation_is_half_kept():
    pair, warnings = only_pair(related(20_000, 1, share=0.8), related(20_000, 2, share=0.4))
    assert pair.kept == pytest.approx(0.5, abs=0.1)
    assert warnings == []


def test_a_few_synthetic_rows_do_not_hide_a_relation():
    pair, _ = only_pair(related(5000, 1, share=1.0), related(300, 2, share=1.0))
    assert pair.kept > 0.8


def test_one_real_row_is_related_to_nothing():
    pair, warnings = only_pair(np.zeros((1, 2)), np.zeros((3, 2)))
    assert (pair.kept, pair.strength, warnings) == (None, 0.0, [])
