import json

import pytest

import evomix
from evomix.bench import running, shared_encoder, text_contest
from evomix.bench.methods import TEXT_METHODS, TEXT_REFERENCES
from evomix.bench.pages import write_pages
from evomix.bench.results import RESULTS_FILE, load_results
from evomix.bench.running import RUNS, BenchRequest, run_bench
from evomix.bench.text_contest import TextSettings
from evomix.core.errors import EnvironmentFailure, GeneratorError, SpecError
from evomix.experiment import text_side
from evomix.modalities.text.language_model import Completion

FAST = TextSettings(generator="recombine", embedder="tfidf", rounds=1, candidates=30)


def request(data, out, **changes):
    settings = {"epsilons": (2.0,), "methods": ("default",), "seeds": 1, "rows": 20, "settings": FAST}
    return BenchRequest("text-sentiment", data, out, **settings | changes)


@pytest.fixture
def calls(monkeypatch):
    """Every call of ``evomix.synthesize``."""
    found, synthesize = [], evomix.synthesize

    def watched(private, **settings):
        found.append((private, settings))
        return synthesize(private, **settings)

    monkeypatch.setattr(evomix, "synthesize", watched)
    return found


def test_every_method_and_reference_is_scored(data, tmp_path):
    made = run_bench(request(data, tmp_path, methods=tuple(TEXT_METHODS)))
    assert {(line.name, line.epsilon) for line in made.lines} == {
        *((name, 2.0) for name in TEXT_METHODS),
        *((name, None) for name in TEXT_REFERENCES),
    }
    for line in made.lines:
        assert line.scores["accuracy"].mean is not None
        assert (line.scores["recall"].mean is None) == (line.name in ("real_all", "public_all"))
        assert line.wall_s.mean >= 0.0


@pytest.mark.parametrize("name", ["text-medical", "text-instruments", "text-sms"])
def test_every_set_runs(data, tmp_path, name):
    made = run_bench(BenchRequest(name, data, tmp_path, (4.0,), ("aug-pe",), 1, 20, settings=FAST))
    (line,) = (line for line in made.lines if line.epsilon == 4.0)
    assert all(score.mean is not None for score in line.scores.values())


def test_test_texts_are_given_to_no_run(data, tmp_path, calls):
    contest = text_contest.TextContest.open(
        text_contest.Entry("text-sentiment", "", ("uci_sentiment.parquet",)),
        data,
        rows=20,
        settings=FAST,
        ledger=tmp_path / "ledger.sqlite",
    )
    run_bench(request(data, tmp_path))
    hidden = set(contest._tables.test.column("text").to_pylist())
    ((private, settings),) = calls
    assert hidden
    assert not hidden & {*private.column("text").to_pylist(), *settings["public"].column("text").to_pylist()}
    assert settings["epsilon"] == 2.0
    assert settings["ledger"].parent == tmp_path


def test_what_was_killed_goes_on_where_it_stopped(data, tmp_path, calls):
    def kill(_what, done, _total):
        if done == 2:
            raise KeyboardInterrupt

    asked = request(data, tmp_path, methods=("default", "aug-pe", "pe"))
    with pytest.raises(KeyboardInterrupt):
        run_bench(asked, told=kill)
    assert len(calls) == 2
    first = load_results(tmp_path)
    assert len(first) == 2
    with (tmp_path / RESULTS_FILE).open("a") as file:
        file.write('{"key": "cut sh')
    with pytest.raises(SpecError, match="holds results of a benchmark"):
        run_bench(asked)
    made = run_bench(request(data, tmp_path, methods=("default", "aug-pe", "pe"), resume=True))
    assert len(calls) == 3
    assert [one for one in made.results if one.key in first] == list(first.values())
    assert len(load_results(tmp_path)) == 3 + len(TEXT_REFERENCES)
    run_bench(request(data, tmp_path, methods=("pe",), resume=True))
    assert len(calls) == 3


def test_every_result_finds_the_texts_of_the_data_encoded(data, tmp_path, monkeypatch):
    asked, synthesize = [], evomix.synthesize
    keep = shared_encoder.SharedEncoder.keep
    monkeypatch.setattr(
        shared_encoder.SharedEncoder, "keep", lambda self, texts: asked.append("keep") or keep(self, texts)
    )
    monkeypatch.setattr(evomix, "synthesize", lambda *a, **k: asked.append("run") or synthesize(*a, **k))
    run_bench(request(data, tmp_path, methods=("default", "pe")))
    assert asked == ["keep", "keep", "keep", "run", "run"]
    run_bench(request(data, tmp_path, methods=("default", "pe"), resume=True))
    assert len(asked) == 5  # nothing was left to make


def test_other_settings_are_another_result(data, tmp_path, calls):
    run_bench(request(data, tmp_path))
    run_bench(request(data, tmp_path, rows=21, resume=True))
    assert len(calls) == 2
    run_bench(request(data, tmp_path, seeds=2, epsilons=(3.0,), resume=True))
    assert [(settings["epsilon"], settings["seed"], settings["rows"]) for _, settings in calls] == [
        (2.0, 0, 20),
        (2.0, 0, 21),
        (3.0, 0, 20),
        (3.0, 1, 20),
    ]


GOOD = ("great", "lovely", "tasty", "excellent", "warm", "fresh")
BAD = ("awful", "cold", "rude", "terrible", "slow", "stale")
"""Words by which the texts of ``data`` tell their class."""


class Model:
    """A model that stops answering once."""

    name, form = "stub", "chat"

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def complete(self, requests):
        for place, one in enumerate(requests):
            if self.answers == 0:
                self.answers = -1
                raise GeneratorError("the model is gone")
            self.answers -= 1
            self.asked.append((one.user, one.seed))
            words = max((GOOD, BAD), key=lambda known: sum(one.user.count(word) for word in known))  # as its examples
            first, second = words[one.seed % 6], words[one.seed // 6 % 5]
            yield place, Completion(f"The soup was {first} and, {len(self.asked)}, the film was {second}.", "stop")


@pytest.mark.parametrize("cell", [("default", 2.0, 0), ("first", None, 0)])
def test_answers_of_a_model_are_asked_for_once(data, tmp_path, monkeypatch, cell):
    model = Model(answers=12)
    monkeypatch.setattr(running, "_cells", lambda *_: iter([cell]))
    monkeypatch.setattr(text_side, "make_model", lambda _spec, **_already: model)
    settings = TextSettings(generator="local", embedder="tfidf", rounds=2, candidates=30)
    with pytest.raises(GeneratorError, match="is gone"):
        run_bench(request(data, tmp_path, settings=settings))
    assert len(model.asked) == 12
    made = run_bench(request(data, tmp_path, settings=settings, resume=True))
    assert len(model.asked) >= 20
    assert len(set(model.asked)) == len(model.asked)
    assert made.results[0].wall_s is None  # made in two goes
    assert not list((tmp_path / RUNS).iterdir())


def test_an_interrupted_run_that_cannot_go_on_says_which_folder(data, tmp_path, monkeypatch):
    asked = request(data, tmp_path, settings=TextSettings(generator="local", embedder="tfidf"))
    monkeypatch.setattr(text_contest, "has_prepared", lambda _folder: True)

    def fail(*_args, **_settings):
        raise EnvironmentFailure("every round was interrupted")

    monkeypatch.setattr(evomix, "synthesize", fail)
    with pytest.raises(EnvironmentFailure, match=r"interrupted\. To make this one result anew, remove the folder"):
        run_bench(asked)


def test_wrong_settings_are_refused_before_any_run(data, tmp_path, calls):
    with pytest.raises(SpecError, match="methods"):
        request(data, tmp_path, methods=("default", "best"))
    with pytest.raises(SpecError, match="seeds"):
        request(data, tmp_path, seeds=0)
    with pytest.raises(SpecError, match="epsilon"):
        run_bench(request(data, tmp_path / "a", epsilons=(1.0, -1.0)))
    with pytest.raises(SpecError, match="no effect with generator='recombine'"):
        run_bench(request(data, tmp_path / "b", settings=TextSettings("recombine", model="m", embedder="tfidf")))
    with pytest.raises(SpecError, match="at least 10 rows"):
        run_bench(request(data, tmp_path / "c", rows=5))
    assert not calls


def test_the_command_says_what_was_asked_for(data, tmp_path):
    settings = TextSettings(generator="recombine", embedder="my models/e", candidates=(30, 40))
    made = request(data, tmp_path, epsilons=(0.5, 2.0), methods=("pe", "default"), settings=settings)
    assert made.command == (
        "evomix bench run text-sentiment --data FOLDER --epsilon 0.5,2 --methods pe,default --seeds 1 --rows 20 "
        "--generator recombine --embedder 'my models/e' --candidates 30,40"
    )


def test_the_tables_say_what_was_done(data, tmp_path):
    made = run_bench(request(data, tmp_path, seeds=2, methods=("default", "pe")))
    page, numbers, html = write_pages(made)
    told = page.read_text()
    assert f"`{made.request.command}`" in told
    assert "--methods default,pe" in told
    assert "Not private" in told
    assert told.count("**") == 2 * len(made.measures)
    content = json.loads(numbers.read_text())
    assert content["private"] is False
    best = content["best"]["2"]["accuracy"]
    means = {line["name"]: line["scores"]["accuracy"]["mean"] for line in content["lines"] if line["epsilon"] == 2.0}
    assert means[best] == max(means.values())
    shown = html.read_text()
    assert "ε = 2" in shown
    assert "floor: as many public records" in shown
    texts = made.entry.files  # no text of the data is in what is written
    assert texts
    assert not any("We said so" in path.read_text() for path in (page, numbers, html, tmp_path / RESULTS_FILE))
