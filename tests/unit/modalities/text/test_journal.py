"""No answer is lost, none is asked for twice."""

import json
from types import SimpleNamespace

import pytest

from evomix.core.errors import EnvironmentFailure, GeneratorError
from evomix.modalities.text.journal import Journal, JournaledModel
from evomix.modalities.text.language_model import Completion, Request

REQUESTS = [Request("", f"write {number}", 10, seed=number) for number in range(5)]


class Counting:
    """Answers in reverse order, says how often it was asked, and stops after some answers."""

    name = "counting"

    def __init__(self, most=10**6):
        self.asked, self.most = [], most

    def complete(self, requests):
        for position in reversed(range(len(requests))):
            if len(self.asked) == self.most:
                raise GeneratorError("the account is empty")
            self.asked.append(requests[position].user)
            yield position, Completion(f"answer to {requests[position].user} 🙂\ud83d", "stop", 3, 2)


def _answers(model, requests=REQUESTS):
    return dict(model.complete(requests))


def test_answers_are_those_of_the_model():
    told = []
    model = JournaledModel(Counting(), Journal(None), told=lambda done, total: told.append((done, total)))
    answers = _answers(model)
    assert {position: answer.text[:17] for position, answer in answers.items()} == {
        k: f"answer to write {k}" for k in range(5)
    }
    assert told == [(done, 5) for done in range(6)]
    assert (len(model.journal), model.journal.prompt_tokens, model.journal.tokens) == (5, 15, 10)


def test_nothing_is_asked_twice_not_even_by_another_process(tmp_path):
    path = tmp_path / "deep" / "answers.jsonl"
    first = _answers(JournaledModel(Counting(), Journal(path)))
    again = Counting()
    assert _answers(JournaledModel(again, Journal(path))) == first
    assert again.asked == []


def test_what_was_answered_before_an_error_stays(tmp_path):
    path = tmp_path / "answers.jsonl"
    with pytest.raises(GeneratorError, match="empty"):
        _answers(JournaledModel(Counting(most=2), Journal(path)))
    rest = Counting()
    assert len(_answers(JournaledModel(rest, Journal(path)))) == 5
    assert sorted(rest.asked) == ["write 0", "write 1", "write 2"]


def test_an_answer_is_on_disk_before_it_is_used(tmp_path):
    path = tmp_path / "answers.jsonl"
    for used, _ in enumerate(JournaledModel(Counting(), Journal(path)).complete(REQUESTS), start=1):
        assert len(path.read_text().splitlines()) == used


def test_a_line_that_a_crash_cut_is_asked_for_again(tmp_path):
    path = tmp_path / "answers.jsonl"
    whole = _answers(JournaledModel(Counting(), Journal(path)))
    path.write_bytes(path.read_bytes()[:-7])
    rest = Counting()
    assert _answers(JournaledModel(rest, Journal(path))) == whole
    assert len(rest.asked) == 1
    assert all(json.loads(line) for line in path.read_text().splitlines())
    assert len(path.read_text().splitlines()) == 5


@pytest.mark.parametrize(
    "line",
    [b"nonsense", b"[]", b'{"key": "k"}', b'{"key": "k", "text": 1, "finish": "stop"}', b"\xff\xfe",
     b'{"key": "k", "text": "a", "finish": "never"}', b'{"key": "k", "text": "a", "finish": "stop", "tokens": -1}'],
)  # fmt: skip
def test_what_is_no_answer_is_passed_over(tmp_path, line):
    path = tmp_path / "answers.jsonl"
    path.write_bytes(line + b"\n")
    assert len(Journal(path)) == 0
    assert len(_answers(JournaledModel(Counting(), Journal(path)))) == 5


@pytest.mark.parametrize("change", [{"seed": 9}, {"user": "x"}, {"system": "y"}, {"temperature": 0.5}, {"top_p": 0.1}])
def test_another_request_or_model_has_another_answer(tmp_path, change):
    path = tmp_path / "answers.jsonl"
    _answers(JournaledModel(Counting(), Journal(path)), [REQUESTS[0]])
    fields = {name: getattr(REQUESTS[0], name) for name in REQUESTS[0].__slots__}
    other = Counting()
    _answers(JournaledModel(other, Journal(path)), [Request(**(fields | change))])
    assert len(other.asked) == 1
    renamed = Counting()
    renamed.name = "another"
    _answers(JournaledModel(renamed, Journal(path)), [REQUESTS[0]])
    assert len(renamed.asked) == 1


def test_equal_requests_are_one():
    model = Counting()
    assert len(_answers(JournaledModel(model, Journal(None)), [REQUESTS[0]] * 3)) == 3
    assert len(model.asked) == 1


def test_a_journal_that_cannot_be_used_says_so(tmp_path):
    with pytest.raises(EnvironmentFailure, match="journal"):
        Journal(tmp_path)
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(EnvironmentFailure, match="journal"):
        _answers(JournaledModel(Counting(), Journal(blocked / "answers.jsonl")))


class Billed(Counting):
    """A model with an account that counts more than the answers tell."""

    def __init__(self, already=0):
        super().__init__()
        self.total = already

    @property
    def spent(self):
        return SimpleNamespace(prompt_tokens=self.total, tokens=2 * self.total, cost=self.total / 8)

    def complete(self, requests):
        for position, answer in super().complete(requests):
            self.total += 100
            yield position, answer


def test_what_was_billed_is_known_to_the_next_process(tmp_path):
    path = tmp_path / "answers.jsonl"
    assert Journal(path).bill is None
    _answers(JournaledModel(Billed(), Journal(path)), REQUESTS[:3])
    assert Journal(path).bill == (300, 600, 37.5)
    _answers(JournaledModel(Billed(already=300), Journal(path)))
    assert Journal(path).bill == (500, 1000, 62.5)
    _answers(JournaledModel(Counting(), Journal(path)), [Request("", "another", 1)])
    assert Journal(path).bill == (500, 1000, 62.5)  # a model without an account says nothing against it
