"""What is counted is fixed by public facts alone, and spends the budget exactly once."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marginal_tables import shape_of

from evomix.marginals.stages import MOST_PAIRS, MOST_SETS, SETS_PER_COLUMN, stages_of


@given(st.integers(1, 60), st.integers(0, 60), st.booleans())
def test_shares_sum_to_one_and_every_column_is_counted(columns, target, predicted):
    shape = shape_of([5] * columns, target=target % columns if predicted else None)
    stages = stages_of(shape)
    assert float(sum(Fraction(stage.share) for stage in stages)) == pytest.approx(1.0, abs=1e-15)
    assert all(stage.share > 0.0 and stage.blocks >= 1 for stage in stages)
    assert stages[0].kind == "columns"
    assert stages[0].blocks == columns
    most = max(MOST_SETS, SETS_PER_COLUMN * columns)
    assert all(stage.blocks <= most for stage in stages if stage.kind == "sets")
    # Where not all sets are counted, all pairs were before, so that it is known which are worth it.
    chosen = [stage.blocks for stage in stages if stage.kind == "sets"] not in ([], [len(shape.pairs)])
    assert (
        not chosen
        or len(shape.pairs) > MOST_PAIRS
        or ("coarse_pairs", len(shape.pairs)) in [(stage.kind, stage.blocks) for stage in stages]
    )


CASES = {
    "one column": (shape_of([5]), [("columns", 1)]),
    "the target alone": (shape_of([5], target=0), [("columns", 1)]),
    "target and one": (shape_of([5, 2], target=1), [("columns", 2), ("with_target", 1)]),
    "target and two": (
        shape_of([5, 2, 3], target=1),
        [("columns", 3), ("with_target", 2), ("most_telling", 1), ("sets", 1)],
    ),
    "two": (shape_of([5, 2]), [("columns", 2), ("sets", 1)]),
    "all pairs": (shape_of([2] * 11), [("columns", 11), ("sets", 55)]),
    "more pairs than are counted": (shape_of([2] * 12), [("columns", 12), ("coarse_pairs", 66), ("sets", 60)]),
    "too wide for pairs": (
        shape_of([2] * 220, target=0),
        [("columns", 220), ("with_target", 219), ("most_telling", 1), ("sets", 660)],
    ),
    "wide": (shape_of([2] * 30), [("columns", 30), ("coarse_pairs", 435), ("sets", 90)]),
    "wide with a target": (
        shape_of([2] * 60, target=9),
        [("columns", 60), ("with_target", 59), ("most_telling", 1), ("coarse_pairs", 1711), ("sets", 180)],
    ),
    "columns counted twice": (
        shape_of([1025, 1025, 128, 129], ordered=(0, 2, 3)),
        [("columns", 4 + 2), ("sets", 6)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_stages_of_a_table(case):
    shape, expected = CASES[case]
    assert [(stage.kind, stage.blocks) for stage in stages_of(shape)] == expected


def test_sets_have_most_of_the_budget():
    shares = {stage.kind: stage.share for stage in stages_of(shape_of([4] * 5, target=0))}
    assert shares == pytest.approx({"columns": 0.1, "with_target": 0.2, "most_telling": 0.15, "sets": 0.55})
    assert stages_of(shape_of([4]))[0].share == 1.0


def test_pairs_leave_the_target_out():
    shape = shape_of([4] * 4, target=1)
    assert shape.others == (0, 2, 3)
    assert shape.pairs == ((0, 2), (0, 3), (2, 3))
    assert shape_of([9]).pairs == ()
