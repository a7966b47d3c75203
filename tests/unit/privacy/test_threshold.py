import pytest

from evomix.core.errors import SpecError
from evomix.privacy.threshold import check_rounds, smallest


@pytest.mark.parametrize("threshold", [1e-280, 1e-5, 0.3, 1.0, 7.25, 1e9, 1e280])
@pytest.mark.parametrize("guess", [1.0, 123.0])
def test_the_answer_meets_the_condition_and_is_next_to_the_threshold(threshold, guess):
    answer = smallest(lambda x: x >= threshold, guess=guess)
    assert threshold <= answer <= threshold * (1 + 2.0**-45)


def test_a_condition_that_nothing_meets_is_refused():
    with pytest.raises(SpecError, match="found none"):
        smallest(lambda _: False, guess=1.0)


@pytest.mark.parametrize("rounds", [0, -1, 1.5, float("nan"), 10**10])
def test_rounds_are_a_count(rounds):
    with pytest.raises(SpecError, match="rounds="):
        check_rounds(rounds)
