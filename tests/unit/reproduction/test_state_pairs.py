import numpy as np
import pytest

from evomix.core.errors import InputFileError, SpecError
from evomix.privacy import proximity
from evomix.reproduction.census import States, histogram
from evomix.reproduction.distance_curves import mixtures_at
from evomix.reproduction.state_pairs import chosen_pairs, needed, pairs_of


def test_pairs_are_neighbours_in_size_and_the_larger_is_private(states):
    assert [(pair.private, pair.public) for pair in chosen_pairs(states)] == [("BB", "AA"), ("CC", "DD")]
    assert len(chosen_pairs(states, most=1)) == 1


def test_an_odd_state_out_is_left_alone(states):
    three = States(states.source, None, dict(list(states.cells.items())[:3]))
    assert [(pair.private, pair.public) for pair in chosen_pairs(three)] == [("BB", "AA")]


def test_rows_are_held_out_and_none_is_lost(states):
    (pair, *_) = chosen_pairs(states)
    assert (len(pair.kept), len(pair.held_out)) == (336, 84)
    np.testing.assert_array_equal(np.sort(np.concatenate([pair.kept, pair.held_out])), np.sort(states.cells["BB"]))
    np.testing.assert_allclose(pair.private_votes, histogram(pair.kept))
    assert (pair.budget.n, pair.budget.delta, pair.budget.epsilon) == (336, 1 / 336, 5.0)


def test_another_seed_holds_out_other_rows(states):
    one, other = (chosen_pairs(states, seed=seed)[0] for seed in (0, 1))
    assert sorted(one.held_out) != sorted(other.held_out)
    assert chosen_pairs(states, seed=1)[0].held_out.tolist() == other.held_out.tolist()


def test_proximity_is_that_of_the_other_states(states):
    (pair,) = pairs_of(states, "BB", ("AA",))
    others = [histogram(cells) for name, cells in states.cells.items() if name != "BB"]
    assert pair.proximity == proximity(others)
    assert pair.proximity != proximity([*others, histogram(states.cells["BB"])])


def test_private_rows_decide_nothing_but_the_votes(states):
    """The mechanism must be the same whatever the private rows are; only their number counts."""
    other = States(states.source, None, states.cells | {"BB": np.zeros(len(states.cells["BB"]), dtype=np.int64)})
    one, two = (pairs_of(found, "BB", ("AA",))[0] for found in (states, other))
    assert one.proximity == two.proximity
    assert one.distance != two.distance
    designs = [mixtures_at(pair, 30) for pair in (one, two)]
    for name in designs[0]:
        assert designs[0][name].weight == designs[1][name].weight
        np.testing.assert_array_equal(designs[0][name].noise, designs[1][name].noise)


def test_too_little_data_is_refused(states):
    with pytest.raises(SpecError, match="--data"):
        needed(None)
    with pytest.raises(InputFileError, match="4 states"):
        needed(States("s.csv", None, dict(list(states.cells.items())[:3])))
    with pytest.raises(InputFileError, match="too small: DD"):
        needed(States("s.csv", None, states.cells | {"DD": np.zeros(5, dtype=np.int64)}))
    assert needed(states) is states
