import numpy as np
import pytest
from evaluation_tables import COLUMNS, Made, independent_rows, related_rows

from evomix.evaluation.fidelity import fidelity


def compare(real, synthetic, columns=COLUMNS, public=None, seed=0):
    return fidelity(real, synthetic, columns, public=public, rng=np.random.default_rng(seed))


def test_fresh_rows_of_the_same_law_reach_the_ceiling():
    found = compare(related_rows(3000, 1), related_rows(3000, 2))
    for score in found.marginals:
        assert score.mean < 1.6 * score.ceiling + 0.01
        assert score.mean < 0.5 * score.floor
    assert found.association.difference < 0.05
    assert not [warning for warning in found.warnings if "relations" in warning]
    assert min(pair.kept for pair in found.pairs if pair.kept is not None) > 0.85


def test_independent_columns_are_called_out_though_single_columns_are_right():
    found = compare(related_rows(3000, 1), independent_rows(3000, 2))
    ways = {score.way: score for score in found.marginals}
    assert ways[1].mean < 2 * ways[1].ceiling + 0.01
    assert ways[2].mean > 3 * ways[2].ceiling
    assert "relations lost: 3 of 3 related pairs" in found.warnings[0]
    assert "x with y" in found.warnings[0]
    kept = {(pair.first, pair.second): pair.kept for pair in found.pairs}
    assert kept["x", "y"] < 0.1
    assert kept["x", "flag"] is None, "nothing to keep: the flag is independent of everything"


def test_small_tables_raise_no_alarm_from_noise():
    for seed in range(20):
        found = compare(related_rows(60, 100 + seed), related_rows(60, 200 + seed), seed=seed)
        assert not [warning for warning in found.warnings if "relations" in warning]


def test_the_floor_is_public_rows_or_uniform_cells():
    real, synthetic = related_rows(2000, 1), related_rows(2000, 2)
    with_public = compare(real, synthetic, public=independent_rows(2000, 3))
    assert with_public.floor_name == "public rows"
    without = compare(real, synthetic)
    assert without.floor_name == "rows uniform over the schema"
    assert without.marginals[0].floor > with_public.marginals[0].floor
    assert compare(real, synthetic, public=np.empty((0, 4))).floor_name == without.floor_name


def test_coverage_of_categories_and_its_warning():
    real, synthetic = related_rows(500, 1, rare=0.05), related_rows(500, 2, rare=0.0)
    found = compare(real, synthetic)
    group = next(item for item in found.coverage if item.column == "group")
    assert (group.real, group.covered, group.absent) == (3, 2, ("rare",))
    assert group.share == pytest.approx(2 / 3)
    assert any("'group'" in warning and "'rare'" in warning for warning in found.warnings)


def test_a_category_too_rare_to_expect_is_counted_but_not_warned_of():
    real, synthetic = related_rows(2000, 1, rare=0.0), related_rows(100, 2, rare=0.0)
    real[0, 2] = 2.0
    found = compare(real, synthetic)
    assert next(item for item in found.coverage if item.column == "group").share == pytest.approx(2 / 3)
    assert not any("categories" in warning for warning in found.warnings)


@pytest.mark.parametrize("width", [1, 2])
def test_narrow_tables(width):
    real = related_rows(100, 1)[:, :width]
    found = compare(real, related_rows(50, 2)[:, :width], COLUMNS[:width])
    assert [score.way for score in found.marginals] == list(range(1, width + 1))
    assert len(found.pairs) == width - 1


def test_one_row_and_empty_columns():
    columns = (*COLUMNS, Made("none", "number", min=0.0, max=1.0, missing=True))
    row = np.array([[5.0, np.nan, 0.0, 1.0, np.nan]])
    found = compare(row, row, columns)
    assert all(score.mean == 0.0 for score in found.marginals)
    assert found.warnings == ()
