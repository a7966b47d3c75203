"""How many texts a run proposes."""

import pytest

from evomix.experiment.spec import RunSpec
from evomix.experiment.text_plan import text_candidates, text_rounds


def _spec(**more):
    return RunSpec.from_mapping({"private": "p.csv", "public": "q.csv", "epsilon": 2.0, "delta": 1e-6, **more})


def test_what_is_named_stays():
    assert text_rounds(_spec(rounds=7), "gaussian", 1000) == 7
    assert text_candidates(_spec(candidates=55), "gaussian", 1000) == 55
    assert text_candidates(_spec(candidates=[5, 9]), "gaussian", 1000) == (5, 9)


def test_lists_fix_the_rounds():
    assert text_rounds(_spec(candidates=[5, 9]), "gaussian", 1000) is None
    assert text_rounds(_spec(mechanism="linmix,gaussian"), "linmix,gaussian", 1000) is None
    assert text_candidates(_spec(mechanism="linmix,gaussian"), "linmix,gaussian", 1000) is None


def test_one_round_of_four_candidates_a_row_as_far_as_votes_tell_them_apart():
    assert text_rounds(_spec(), "gaussian", 700) == text_rounds(_spec(), "gaussian", 10**6) == 1
    assert text_candidates(_spec(rows=200), "gaussian", 700) == 800
    assert text_candidates(_spec(rows=10), "gaussian", 10**6) == 40
    most = text_candidates(_spec(rows=10**6), "gaussian", 1000)
    assert most == text_candidates(_spec(rows=10**5), "gaussian", 1000) < 40_000
    assert text_candidates(_spec(rows=10**6, epsilon=0.5), "gaussian", 1000) < most


def test_who_names_a_selection_has_rounds():
    for named in ({"selection": "rank"}, {"preset": "aug-pe"}, {"preset": "pe"}, {"preset": "gape"}):
        assert text_rounds(_spec(**named), "gaussian", 10_000) == 4
        assert text_rounds(_spec(epsilon=0.5, **named), "gaussian", 700) == 2
    assert text_rounds(_spec(preset="aug-pe", rounds=1), "gaussian", 10_000) == 1


def test_several_rounds_have_two_candidates_a_row_and_no_fewer_than_votes_tell_apart():
    few = text_candidates(_spec(rows=10, rounds=4), "gaussian", 1000)
    some = text_candidates(_spec(rows=few, rounds=4), "gaussian", 1000)
    most = text_candidates(_spec(rows=10**6, rounds=4), "gaussian", 1000)
    assert (some, most) == (2 * few, 4 * few)
    assert text_candidates(_spec(rows=10, rounds=4), "gaussian", 100_000) > few


@pytest.mark.parametrize("mechanism", ["linmix", "gaussian", "pubmix", "laplace"])
def test_any_mechanism_has_a_number(mechanism):
    assert text_candidates(_spec(), mechanism, 500) >= 30
