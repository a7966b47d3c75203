import pytest

from evomix.modalities.text.as_answered import as_answered
from evomix.modalities.text.pacing import Stopped


def test_all_answers_come_once():
    assert sorted(as_answered(lambda n: n * n, 50, workers=4, stop=lambda: None)) == [(n, n * n) for n in range(50)]


def test_after_a_failure_no_further_question_is_put():
    asked, stops = [], []

    def answer(position):
        asked.append(position)
        if position == 2:
            raise KeyError(position)
        return position

    answers, found = as_answered(answer, 50, workers=1, stop=lambda: stops.append(True)), []
    with pytest.raises(KeyError):
        found.extend(answers)
    assert asked == [0, 1, 2]
    assert stops


def test_who_was_only_stopped_is_no_failure():
    def answer(position):
        raise ValueError("first") if position == 0 else Stopped

    with pytest.raises(ValueError, match="first"):
        list(as_answered(answer, 3, workers=3, stop=lambda: None))
