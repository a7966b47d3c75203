import json

import pytest

from evomix.core.errors import GeneratorError, InputFileError, SpecError
from evomix.modalities.text.cassette import Cassette
from evomix.modalities.text.language_model import Completion, Request


class Counting:
    """A model whose answers tell how often it was asked; the last request is answered first."""

    name, form = "counting", "chat"

    def __init__(self, fail_after=None):
        self.asked, self._fail_after = 0, fail_after

    def complete(self, requests):
        for position in reversed(range(len(requests))):
            if self.asked == self._fail_after:
                raise GeneratorError("no more")
            self.asked += 1
            yield position, Completion(f"{requests[position].user} {self.asked} é\n\u2028👋", "stop", 3, 4)


def asks(*users, **settings):
    return [Request("You write.", user, 20, **settings) for user in users]


def played(cassette, requests):
    return dict(cassette.complete(requests))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.jsonl"


class TestCassette:
    def test_what_was_recorded_is_replayed_without_the_model(self, path):
        recorded = played(Cassette(Counting(), path, mode="record"), asks("a", "b", "c"))
        again = Cassette(None, path, mode="replay")
        assert played(again, asks("c", "a", "b")) == {0: recorded[2], 1: recorded[0], 2: recorded[1]}
        assert again.name == "counting"

    def test_the_same_request_twice_has_two_answers(self, path):
        first = Cassette(Counting(), path)
        recorded = [played(first, asks("a", "a")), played(first, asks("a"))]
        assert len({recorded[0][0], recorded[0][1], recorded[1][0]}) == 3
        again = Cassette(None, path, mode="replay")
        assert [played(again, asks("a", "a")), played(again, asks("a"))] == recorded

    @pytest.mark.parametrize("changed", [{"seed": 1}, {"temperature": 0.5}, {"top_p": 0.5}])
    def test_another_request_is_missing_and_said_so(self, path, changed):
        played(Cassette(Counting(), path), asks("a", "b"))
        answers = Cassette(None, path, mode="replay").complete([*asks("a"), *asks("b", **changed)])
        assert next(answers)[0] == 0
        with pytest.raises(GeneratorError, match="holds no answer to request"):
            next(answers)

    def test_auto_asks_only_for_what_is_new(self, path):
        played(Cassette(Counting(), path), asks("a", "b"))
        model = Counting()
        found = played(Cassette(model, path), asks("a", "new", "b"))
        assert model.asked == 1
        assert found[1].text.startswith("new 1")
        assert len(played(Cassette(None, path, mode="replay"), asks("a", "new", "b"))) == 3

    def test_what_came_before_an_error_is_kept(self, path):
        with pytest.raises(GeneratorError, match="no more"):
            played(Cassette(Counting(fail_after=2), path), asks("a", "b", "c"))
        model = Counting()
        assert len(played(Cassette(model, path), asks("a", "b", "c"))) == 3
        assert model.asked == 1

    def test_an_answer_is_on_disk_before_it_is_handed_on(self, path):
        answers = Cassette(Counting(), path).complete(asks("a", "b"))
        next(answers)
        assert len(path.read_bytes().splitlines()) == 2
        answers.close()

    def test_a_line_cut_by_a_kill_is_asked_again(self, path):
        played(Cassette(Counting(), path), asks("a", "b"))
        whole = path.read_bytes()
        path.write_bytes(whole[:-9])
        model = Counting()
        played(Cassette(model, path), asks("a", "b"))
        assert model.asked == 1
        assert [json.loads(line)["occurrence"] for line in path.read_bytes().splitlines()[1:]] == [0, 0]

    def test_refused(self, path):
        with pytest.raises(SpecError, match="needs a model"):
            Cassette(None, path)
        with pytest.raises(SpecError, match="mode=play"):
            Cassette(Counting(), path, mode="play")
        with pytest.raises(InputFileError, match="no cassette"):
            Cassette(None, path, mode="replay")
        played(Cassette(Counting(), path), asks("a"))
        with pytest.raises(SpecError, match="exists"):
            Cassette(Counting(), path, mode="record")
        other = Counting()
        other.name = "another"
        with pytest.raises(SpecError, match="model=another"):
            Cassette(other, path)

    @pytest.mark.parametrize("content", ['{"cassette": 9, "model": "m"}\n', "[]\n", "text\n", '{"a": 1}\n{"b": 2}\n'])
    def test_another_file_is_no_cassette(self, path, content):
        path.write_text(content)
        with pytest.raises(InputFileError, match="line 1"):
            Cassette(Counting(), path)
        assert path.read_text() == content

    def test_a_broken_line_is_named(self, path):
        played(Cassette(Counting(), path), asks("a"))
        path.write_text(path.read_text() + '{"request": {}}\n')
        with pytest.raises(InputFileError, match="line 3"):
            Cassette(Counting(), path)
