import pytest

import tiny_llama as tiny
from evomix.core.errors import EnvironmentFailure, GeneratorError, InputFileError, SpecError
from evomix.modalities.text.language_model import Request

pytest.importorskip("ctranslate2")
pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

from evomix.modalities.text import local_model
from evomix.modalities.text.local_model import LocalModel
from evomix.modalities.text.packaged import WRITER


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOMIX_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def path(tmp_path):
    # Small weights: no token is likely, so that answers are long and differ.
    return tiny.write(tmp_path / "tiny.gguf", tiny.weights(scale=0.05))


def _requests(count, **changes):
    return [Request("", f"hello {n} " * (n % 3), **{"most_tokens": 9, "seed": n, **changes}) for n in range(count)]


def _answers(model, requests):
    answers = list(model.complete(requests))
    assert sorted(position for position, _ in answers) == list(range(len(requests)))
    return [answer for _, answer in sorted(answers)]


def test_the_same_requests_have_the_same_answers(path):
    requests = _requests(10)
    first = _answers(LocalModel(path, threads=1, batch_size=4), requests)
    model = LocalModel(path, threads=2, batch_size=4)
    assert _answers(model, requests) == first == _answers(model, requests)
    assert len({answer.text for answer in first}) > 5


def test_other_seeds_have_other_answers(path):
    model = LocalModel(path, threads=1)
    texts = [answer.text for answer in _answers(model, _requests(5))]
    others = [
        answer.text for answer in _answers(model, [Request("", r.user, 9, seed=r.seed + 1) for r in _requests(5)])
    ]
    assert sum(map(str.__eq__, texts, others)) <= 1


def test_answers_keep_to_their_own_limit(path):
    limits = [1, 30, 2, 17, 30, 5]
    requests = [Request("", "hello " * n, limit, seed=n) for n, limit in enumerate(limits)]
    answers = _answers(LocalModel(path, threads=1), requests)
    for answer, limit in zip(answers, limits, strict=True):
        assert answer.tokens == limit if answer.finish == "length" else answer.tokens <= limit
    assert sum(answer.finish == "length" for answer in answers) >= 4
    assert answers[2].prompt_tokens > answers[0].prompt_tokens > 0


def test_an_end_is_an_end_and_no_text(path, monkeypatch):
    model = LocalModel(path, threads=1)
    monkeypatch.setattr(model, "_generate", lambda *_: [[70, 71, 2], [70], [2], [70, 1]])
    answers = _answers(model, [Request("", "x", 9)] * 4)
    assert [(answer.finish, answer.tokens) for answer in answers] == [
        ("stop", 3),
        ("length", 1),
        ("stop", 1),
        ("stop", 2),
    ]
    assert [len(answer.text) for answer in answers] == [2, 1, 0, 1]


def test_a_character_that_the_limit_cut_is_left_out(path, monkeypatch):
    model = LocalModel(path, threads=1)
    whole = model._prompts._plain("a😀")
    monkeypatch.setattr(model, "_generate", lambda *_: [whole[:-1]])
    (answer,) = _answers(model, [Request("", "x", 9)])
    assert answer.text == "a"
    monkeypatch.setattr(model, "_generate", lambda *_: [[*whole, 2]])
    (answer,) = _answers(model, [Request("", "x", 9)])
    assert answer.text == "a😀"


def test_without_temperature_the_seed_does_not_matter(path):
    model = LocalModel(path, threads=1)
    first, second = (_answers(model, [Request("", "hello", 20, temperature=0, seed=n)])[0] for n in (1, 2))
    assert first == second


def test_ways_of_sampling_do_not_share_a_batch(path):
    ways = [(1.0, 0.9), (0.0, 0.9), (1.0, 0.5), (1.0, 0.9), (0.0, 1.0)]
    requests = [Request("", "x", 3, temperature=heat, top_p=share) for heat, share in ways]
    model = LocalModel(path, threads=1)
    prompts = [[1]] * len(requests)
    batches = list(model._batches(requests, prompts, [3] * len(requests)))
    assert sorted(map(sorted, batches)) == [[0, 3], [1], [2], [4]]


def test_batches_hold_prompts_of_like_length(path):
    requests = _requests(7)
    prompts = [[1] * length for length in (5, 90, 6, 91, 7, 92, 93)]
    batches = list(LocalModel(path, threads=1, batch_size=3)._batches(requests, prompts, [9] * 7))
    assert batches == [[0, 2, 4], [1, 3, 5], [6]]


def test_answers_come_as_each_batch_ends(path):
    model = LocalModel(path, threads=1, batch_size=2)
    running = []
    generate = model._generate
    model._generate = lambda *given: running.append(1) or generate(*given)
    answers = model.complete(_requests(6))
    next(answers)
    assert len(running) == 1


def test_a_prompt_without_room_is_answered_with_nothing(path):
    model = LocalModel(path, threads=1)
    long, tight, short = "x" * 300, "x" * (200 - 5 - len("user\n\nassistant\n")), "x"
    answers = _answers(model, [Request("", text, 50) for text in (long, tight, short)])
    assert (answers[0].text, answers[0].finish, answers[0].tokens) == ("", "length", 0)
    assert 0 < answers[1].prompt_tokens + answers[1].tokens <= 200
    assert answers[2].tokens > 0


def test_nothing_asked_is_nothing_answered(path):
    assert list(LocalModel(path, threads=1).complete([])) == []


def test_a_model_without_a_chat_form_answers(tmp_path):
    path = tiny.write(tmp_path / "base.gguf", tiny.weights(), template=None)
    answers = _answers(LocalModel(path, threads=1), [Request("", "", 4), Request("s", "u", 4)])
    assert all(answer.tokens for answer in answers)


def test_the_name_tells_models_and_settings_apart(tmp_path, path):
    other = tiny.write(tmp_path / "deeper.gguf", tiny.weights(seed=1)).rename(tmp_path / "m.gguf")
    same = tiny.write(tmp_path / "again.gguf", tiny.weights(scale=0.05)).rename(tmp_path / "n.gguf")
    names = [LocalModel(p, threads=1).name.split(" ", 1)[1] for p in (path, other, same)]
    assert names[0] == names[2] != names[1]
    assert LocalModel(path, threads=1, top_k=3).name != LocalModel(path, threads=1).name
    assert LocalModel(path, threads=2).name == LocalModel(path, threads=1).name
    assert str(tmp_path) not in LocalModel(path, threads=1).name


@pytest.mark.parametrize(
    "changes", [{"most_tokens": 0}, {"temperature": -0.1}, {"top_p": 0}, {"top_p": 1.1}, {"seed": -1}]
)
def test_requests_out_of_range_are_refused(path, changes):
    (wrong,) = changes
    with pytest.raises(SpecError, match=wrong):
        list(LocalModel(path, threads=1).complete(_requests(2, **changes)))


@pytest.mark.parametrize("changes", [{"batch_size": 0}, {"top_k": -1}, {"threads": 0}])
def test_settings_out_of_range_are_refused(path, changes):
    (wrong,) = changes
    with pytest.raises(SpecError, match=f"{wrong}="):
        LocalModel(path, **changes)


def test_a_runtime_that_fails_is_a_failed_generator(path, monkeypatch):
    model = LocalModel(path, threads=1)
    for file in model._folder.iterdir():
        file.unlink()
    with pytest.raises(GeneratorError, match="cannot answer"):
        list(model.complete(_requests(1)))


def test_an_absent_file_and_an_absent_package_are_told(tmp_path, monkeypatch):
    with pytest.raises(InputFileError, match="is not a file"):
        LocalModel(tmp_path / "none.gguf")
    monkeypatch.setattr(local_model, "WRITER", type(WRITER)("no-such", ">=1", "no_such_module", "*", "language model"))
    with pytest.raises(EnvironmentFailure, match="--install-text"):
        LocalModel()


@pytest.mark.slow
@pytest.mark.skipif(WRITER.find() is None, reason="the packaged language model is not installed")
def test_the_packaged_model_writes_about_what_it_is_told():
    model = LocalModel()
    reviews = ["The battery of this phone dies after two hours.", "The soup was cold and the waiter was rude."]
    ask = "Rewrite this review in other words. Answer with the review alone.\n\n"
    answers = _answers(model, [Request("You rewrite reviews.", ask + reviews[n % 2], 80, seed=n) for n in range(12)])
    assert sum(answer.finish == "stop" for answer in answers) >= 8
    subjects = (("phone", "battery"), ("soup", "waiter", "food", "meal", "dish", "rude"))
    spoken = [answer.text.lower() for answer in answers]
    on_topic = sum(any(word in text for word in subjects[n % 2]) for n, text in enumerate(spoken))
    swapped = sum(any(word in text for word in subjects[1 - n % 2]) for n, text in enumerate(spoken))
    assert on_topic >= 7
    assert swapped <= 3
    assert len({answer.text for answer in answers}) >= 11
