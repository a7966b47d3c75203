"""Models that go on with a beginning: what they are given, and where their answers end."""

import numpy as np
import pytest

from evomix.modalities.text.generator import TextGenerator
from evomix.modalities.text.language_model import Completion, Request, last_line
from evomix.modalities.text.lengths import of_range
from evomix.modalities.text.records import population, texts
from evomix.modalities.text.templates import PRESETS, Theme, load_template
from model_server import ModelServer, said

PUBLIC = population([(0, "Public gloom\nwas all we saw."), (1, "Public joy was all we saw.")] * 5)


class GoingOn:
    """Writes a number of its own; keeps what it was asked."""

    name, form = "going on", "continue"

    def __init__(self):
        self.asked = []

    def complete(self, requests):
        for place, request in enumerate(requests):
            self.asked.append(request)
            yield place, Completion(f" We saw {request.seed} birds in the park.", "stop", 5, 9)


def _generator(model, **more):
    return TextGenerator(
        model, load_template("reviews"), classes=("negative", "positive"), lengths=of_range(4, 9), **more
    )


def test_a_fresh_text_is_the_next_of_a_list_of_its_class():
    model = GoingOn()
    made = _generator(model, public=PUBLIC).random(12, np.random.default_rng(0))
    assert all(text.startswith("We saw") for text in texts(made))
    for request in model.asked:
        assert (request.form, request.system) == ("continue", "")
        lines = request.user.split("\n")
        word, told = ("joy", "praise") if "joy" in request.user else ("gloom was", "complaints")
        assert told in lines[0]
        assert (
            lines[1:-1]
            == [f"- Public {word} was all we saw." if word == "joy" else "- Public gloom was all we saw."] * 4
        )
        assert lines[-1] == "-"


def test_without_public_texts_the_templates_wordings_are_the_list():
    model = GoingOn()
    _generator(model).random(4, np.random.default_rng(0))
    wordings = [f"- {wording}" for _, wording in load_template("reviews").fields.pairs]
    assert all(request.user.split("\n")[1:-1] == wordings for request in model.asked)


@pytest.mark.parametrize(("scale", "least", "most"), [(1.0, 0.35, 0.65), (0.1, 0.0, 0.15)])
def test_a_variation_is_another_wording_or_the_next_of_a_list_with_its_parent(scale, least, most):
    model = GoingOn()
    parents = population([(1, f"Parent {k} was {{label}} here.") for k in range(200)])
    _generator(model, public=PUBLIC).vary(parents, scale, np.random.default_rng(1))
    listed = 0
    for request, (_, parent) in zip(model.asked, parents, strict=True):
        lines = request.user.split("\n")
        if lines[-1] == "-":
            listed += 1
            assert lines[-2] == f"- {parent}"
            assert "joy" in request.user
            assert "gloom" not in request.user
        else:
            assert lines[-2:] == [f"Sentence: {parent}", "Same meaning:"]
            assert request.user.count("Same meaning:") == 4
    assert least <= listed / 200 <= most


@pytest.mark.parametrize("name", PRESETS)
def test_presets_have_lists_and_pairs(name):
    template = load_template(name, domain="notes")
    assert len(template.fields.pairs) >= 2
    prompt = template.listed(Theme("other", 10), ["one", "two"])
    assert prompt.user.endswith("\n- one\n- two\n-")
    assert "other" in prompt.user
    assert template.listed(Theme("", 10), ["one"]).user.split("\n")[0].count("  ") == 0


@pytest.mark.parametrize(
    ("text", "finish", "line"),
    [(" one\n- two", "length", (" one", "stop")), (" one", "length", (" one", "length")), ("\n", "stop", ("", "stop"))],
)
def test_an_answer_ends_with_its_line(text, finish, line):
    assert last_line(text, finish) == line


def test_an_endpoint_is_told_where_to_stop_and_says_what_it_likes():
    pytest.importorskip("openai")
    from evomix.modalities.text.openai_endpoint import OpenAIEndpoint

    with ModelServer([said(" fine.")]) as server:
        going_on = OpenAIEndpoint(model="any", base_url=server.address, api="completion")
        assert going_on.form == "continue"
        assert OpenAIEndpoint(model="any", base_url=server.address).form == "chat"
        dict(going_on.complete([Request("", "A list:\n-", 9, form="continue"), Request("s", "u", 9)]))
        bodies = {hit.body["prompt"]: hit.body for hit in server.hits}
    assert bodies["A list:\n-"]["stop"] == ["\n"]
    assert "stop" not in bodies["s\n\nu"]


@pytest.mark.slow
def test_the_packaged_model_goes_on_line_by_line():
    pytest.importorskip("ctranslate2")
    from evomix.modalities.text.local_model import LocalModel
    from evomix.modalities.text.packaged import WRITER

    if WRITER.find() is None:
        pytest.skip("the packaged model is not installed")
    model = LocalModel()
    assert model.form == "continue"
    listed = "A list of towns in Italy, each on a line of its own:\n- Rome\n- Milan\n- Naples\n-"
    asked = [Request("", listed, 20, temperature=0.5, seed=seed, form="continue") for seed in range(8)]
    mixed = [*asked, Request("", "Say hello.", 20, seed=1)]
    answers = dict(model.complete(mixed))
    lines = [answers[k] for k in range(8)]
    assert all("\n" not in answer.text for answer in lines)
    assert sum(answer.finish == "stop" and 0 < len(answer.text.split()) <= 3 for answer in lines) >= 5
    assert answers[8].text
