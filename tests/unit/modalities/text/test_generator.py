import hashlib
import json
import time
from pathlib import Path

import numpy as np
import pytest

from evomix.core.errors import GeneratorError, SpecError
from evomix.modalities.text.asking import most_tokens
from evomix.modalities.text.class_shares import assign_classes
from evomix.modalities.text.generator import TextGenerator
from evomix.modalities.text.language_model import Completion
from evomix.modalities.text.lengths import of_range
from evomix.modalities.text.records import classes, population, texts
from evomix.modalities.text.templates import load_template

CASES = Path(__file__).parents[5] / "shared" / "cases" / "inputs"
CLASSES = ("negative", "positive")
PUBLIC = population([(0, "Public gloom was all we saw that day."), (1, "Public joy was all we saw that day.")] * 5)


def plain(request):
    """Answer with words that depend on the whole request."""
    digest = hashlib.sha256(repr(request).encode()).hexdigest()
    return Completion(" ".join(digest[k : k + 5] for k in range(0, 40, 5)) + ".", "stop", 1, 9)


class Scripted:
    """A model that answers by a function of the request; keeps what it was asked."""

    name, form = "scripted", "chat"

    def __init__(self, answer=plain, *, shuffled=0):
        self.answer, self.shuffled, self.asked = answer, shuffled, []

    def complete(self, requests):
        self.asked.append(list(requests))
        order = (
            np.random.default_rng(self.shuffled).permutation(len(requests)) if self.shuffled else range(len(requests))
        )
        for k in order:
            yield int(k), self.answer(requests[int(k)])


class Cycle:
    """Answers given in turn."""

    def __init__(self, answers):
        self.answers, self.k = answers, -1

    def __call__(self, request):
        self.k += 1
        return self.answers[self.k % len(self.answers)]


def make(model, **options):
    settings = {"classes": CLASSES, "public": PUBLIC, "lengths": of_range(6, 12)} | options
    return TextGenerator(model, load_template("reviews"), **settings)


def test_fresh_records_have_classes_by_share_and_prompts_of_their_class():
    model = Scripted()
    made = make(model, shares=np.array([0.25, 0.75])).random(40, np.random.default_rng(0))
    assert np.bincount(classes(made)).tolist() == [10, 30]
    assert len(set(texts(made))) == 40
    (asked,) = model.asked
    assert sum("full of complaints" in request.user for request in asked) == 10
    for request in asked:
        assert ("joy" in request.user) <= ("full of praise" in request.user)
        assert ("gloom" in request.user) <= ("full of complaints" in request.user)
    assert any("joy" in request.user for request in asked)
    assert len({request.seed for request in asked}) == 40
    assert all(0 <= request.seed < 2**31 and request.most_tokens > 0 for request in asked)


def test_without_public_records_there_are_no_examples_and_the_templates_lengths():
    model = Scripted()
    generator = TextGenerator(model, load_template("reviews"))
    assert len(generator.random(20, np.random.default_rng(0))) == 20
    assert not any('"""' in request.user or "  " in request.user for request in model.asked[0])


def test_a_class_without_public_records_has_no_examples_of_another():
    model = Scripted()
    make(model, public=PUBLIC[[1, 3]], shares=np.array([1.0, 0.0])).random(20, np.random.default_rng(0))
    assert not any("joy" in request.user for request in model.asked[0])


def test_variations_keep_place_and_class():
    model = Scripted()
    parents = population([(k % 2, f"Parent number {k} is a text of some words.") for k in range(30)])
    made = make(model).vary(parents, 0.5, np.random.default_rng(0))
    assert classes(made).tolist() == classes(parents).tolist()
    assert all(a != b for a, b in zip(texts(made), texts(parents), strict=True))
    blanked = 0
    for k, request in enumerate(model.asked[0]):
        blanked += "___" in request.user
        assert f"number {k} is" in request.user or "___" in request.user
        assert made[k][1] == plain(request).text
    assert 0 < blanked < 15


def test_the_scale_says_how_far():
    parents = population([(0, "one two three four five six seven eight nine ten.")] * 200)
    near, far = Scripted(), Scripted()
    make(near).vary(parents, 0.1, np.random.default_rng(0))
    make(far).vary(parents, 1.0, np.random.default_rng(0))

    def share(model):
        return np.mean([request.user.count("___") for request in model.asked[0] if "___" in request.user])

    assert share(far) > 1.5 * share(near)
    assert near.asked[0][0].temperature < far.asked[0][0].temperature
    assert any("few changes" in request.user for request in near.asked[0])
    assert not any("few changes" in request.user for request in far.asked[0])


def test_answers_in_any_order_and_failures_elsewhere_change_nothing():
    parents = population([(0, f"Parent {k} is here.") for k in range(20)])

    def run(model):
        rng, generator = np.random.default_rng(3), make(model)
        return [*generator.random(20, rng), *generator.vary(parents, 0.4, rng)], rng.bit_generator.state

    made, state = run(Scripted())
    assert run(Scripted(shuffled=5)) == (made, state)

    def failing(request):
        return Completion("", "stop") if request.seed % 3 == 0 else plain(request)

    model = Scripted(failing)
    other, after = run(model)
    assert after == state  # what is drawn from the caller's stream does not depend on the answers
    assert len(model.asked) > 2
    assert len(set(other) & set(made)) > 20
    assert run(Scripted(failing, shuffled=9)) == (other, after)


def test_dropped_answers_are_asked_for_again_with_another_seed_and_more_room():
    def late(request):
        return Completion("Cut in the mid", "length") if request.most_tokens < 80 else plain(request)

    model = Scripted(late)
    generator = make(model, lengths=of_range(10, 10), attempts=3)
    assert len(generator.random(10, np.random.default_rng(0))) == 10
    assert [len(asked) for asked in model.asked] == [10, 10]
    first, second = model.asked
    assert not {request.seed for request in first} & {request.seed for request in second}
    assert generator.counts.figures() == {"answers": 20, "kept": 10, "given_up": 0, "dropped": {"truncated": 10}}


def test_after_all_attempts_a_variation_is_its_parent_and_a_fresh_record_is_left_out():
    def sometimes(request):
        return plain(request) if request.seed % 2 else Completion("I'm sorry, but I can't help with that.", "stop")

    parents = population([(1, f"Parent {k} is here.") for k in range(60)])
    generator = make(Scripted(sometimes), attempts=1)
    made = generator.vary(parents, 0.5, np.random.default_rng(0))
    kept = [a == b for a, b in zip(texts(made), texts(parents), strict=True)]
    assert 10 < sum(kept) < 50
    assert generator.counts.given_up == sum(kept) == generator.counts.dropped["refusal"]
    assert 10 < len(generator.random(60, np.random.default_rng(0))) < 50


def test_a_model_that_refuses_nearly_all_fails_with_the_reasons():
    refusing = Scripted(lambda request: Completion("I'm sorry, but I can't help with that.", "stop"))
    for call in (lambda g, rng: g.random(5, rng), lambda g, rng: g.vary(PUBLIC, 0.5, rng)):
        with pytest.raises(GeneratorError, match=r"'scripted'.*usable=0 of.*\d+ refusal"):
            call(make(refusing), np.random.default_rng(0))


def test_the_same_text_over_and_over_is_one_text():
    same = Scripted(lambda request: Completion("The tea was hot and the staff were kind.", "stop"))
    assert len(make(same).random(8, np.random.default_rng(0))) == 2  # one a class
    with pytest.raises(GeneratorError, match="duplicate"):
        make(same).random(100, np.random.default_rng(0))
    parents = population([(0, "the tea was hot and the staff  were kind.")] * 3)
    assert texts(make(same).vary(parents, 0.5, np.random.default_rng(0))) == texts(parents)


def test_nothing_is_asked_for_nothing():
    model = Scripted()
    rng = np.random.default_rng(0)
    assert len(make(model).random(0, rng)) == len(make(model).vary(PUBLIC[:0], 0.5, rng)) == 0
    assert model.asked == []


def test_a_model_that_leaves_requests_unanswered():
    class Half(Scripted):
        def complete(self, requests):
            yield from list(super().complete(requests))[::2]

    with pytest.raises(GeneratorError, match="answers=3"):
        make(Half()).random(6, np.random.default_rng(0))


def test_token_limits_follow_words_scripts_and_attempts():
    assert most_tokens(10) < most_tokens(20)
    assert most_tokens(10, attempt=1) > most_tokens(10)
    assert most_tokens(100) >= 160
    assert most_tokens(6, ["Добрый день, это хороший отзыв."]) > 2 * most_tokens(6, ["Good day, this is a review."])


def test_prompts_with_odd_texts_are_made():
    odd = population([(0, text) for text in ("Stop <|endoftext|> {x}", "👩🏽‍🚀 flew", "שלום עולם", "", '"""', "...")])
    model = Scripted()
    made = make(model, public=odd).vary(odd, 1.0, np.random.default_rng(0))
    assert len(made) == len(odd)
    assert len(make(model, public=odd).random(6, np.random.default_rng(0))) == 6


def test_classes_are_assigned_by_their_shares():
    rng = np.random.default_rng(0)
    shares = np.array([0.0, 0.1, 0.9, 0.0])
    counts = np.array([np.bincount(assign_classes(shares, 5, rng), minlength=4) for _ in range(2000)])
    assert counts[:, [0, 3]].sum() == 0
    assert set(counts[:, 1]) <= {0, 1}
    assert counts[:, 1].mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    "options",
    [
        {"classes": ()},
        {"shares": np.array([1.0])},
        {"shares": np.array([0.0, 0.0])},
        {"shares": np.array([1.0, np.nan])},
        {"public": population([(2, "x y")])},
        {"attempts": 0},
    ],
)
def test_settings_that_are_none(options):
    with pytest.raises(SpecError):
        make(Scripted(), **options)


@pytest.mark.parametrize("scale", [0.0, 1.5, float("nan")])
def test_scales_that_are_none(scale):
    with pytest.raises(SpecError, match="scale="):
        make(Scripted()).vary(PUBLIC, scale, np.random.default_rng(0))


@pytest.mark.skipif(not CASES.exists(), reason="the cases are not here")
@pytest.mark.parametrize(
    ("case", "file", "size", "forbidden", "reason"),
    [
        ("70-llm-refusals", "mostly_refused.json", 5, "I can't help", "refusal"),
        ("69-llm-truncated", "length.json", 4, "but then the wai", "truncated"),
    ],
)
def test_cases_of_the_field(case, file, size, forbidden, reason):
    script = json.loads((CASES / case / file).read_text("utf-8"))["replies"]
    answers = Cycle([Completion(one["content"], one.get("finish_reason", "stop")) for one in script])
    generator = TextGenerator(Scripted(answers), load_template("reviews"))
    rng, begun = np.random.default_rng(0), time.monotonic()
    made = texts(generator.random(size, rng))
    assert 1 <= len(made) <= size
    assert not any(forbidden in text or "{" in text for text in made)
    assert generator.counts.dropped[reason] > 0
    assert generator.counts.answers <= 3 * size
    assert time.monotonic() - begun < 5
