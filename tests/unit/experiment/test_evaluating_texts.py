import json

import numpy as np
import pandas as pd
import pytest

from evomix.core.errors import EnvironmentFailure, SchemaError, SpecError
from evomix.experiment.evaluating import evaluate, evaluate_files
from evomix.modalities.text.tfidf import TfidfEncoder

GOOD, BAD = ("great", "lovely", "superb"), ("awful", "broken", "stale")
THINGS, ELSEWHERE = ("phone", "battery", "charger", "screen"), ("waiter", "soup", "table", "menu")


def frame(n, seed, things=THINGS, **columns):
    rng = np.random.default_rng(seed)
    liked = rng.random(n) < 0.5
    texts = [
        f"The {rng.choice(things)} of model {rng.integers(10**6)} was {rng.choice(GOOD if yes else BAD)} and "
        f"{'works' if yes else 'fails'} with the {rng.choice(things)}"
        for yes in liked
    ]
    return pd.DataFrame({"review": texts, "liked": liked, "stars": np.where(liked, 5, 1), **columns})


REAL, HALF, PUBLIC = frame(200, 1), frame(100, 2), frame(150, 3, ELSEWHERE)


def measure(real=REAL, made=HALF, **given):
    return evaluate(real, made, **({"public": PUBLIC, "embedder": "tfidf", "seeds": 1} | given))


def scores(measured):
    return {
        arm["name"]: {name: score["mean"] for name, score in arm["scores"].items()}
        for arm in measured["downstream"]["arms"]
    }


def test_a_table_of_texts_is_noticed_and_measured():
    found = measure(target="liked")
    assert found["modality"] == "text"
    assert found["encoder"].startswith("tfidf-")
    assert (found["real_rows"], found["synthetic_rows"], found["public_rows"]) == (200, 100, 150)
    assert scores(found)["synthetic"]["accuracy"] > 0.9
    assert "synthetic table is closer" in found["verdict"]
    assert found["warnings"] == ["only texts and the target are compared, not: 'stars'"]
    told = json.dumps(found)
    assert not any(text in told for text in REAL["review"])


def test_public_texts_as_synthetic_ones_stay_at_the_floor():
    recall = {row["name"]: row for row in measure(made=frame(100, 4, ELSEWHERE))["geometry"]["rows"]}["recall"]
    assert recall["synthetic"]["value"] < 0.5 * recall["ceiling"]["value"]


@pytest.mark.parametrize(
    ("schema", "given", "is_text"),
    [
        (None, {}, True),
        (None, {"wide": 1, "more": 2}, False),
        ({"columns": [{"name": "review", "type": "id"}, {"name": "liked", "type": "boolean"}]}, {}, False),
        (
            {"columns": [{"name": "review", "type": "text"}, {"name": "liked", "type": "boolean"}]},
            {"wide": 1, "more": 2},
            True,
        ),
    ],
)
def test_which_tables_are_of_texts(schema, given, is_text):
    sizes = {
        name: frame(size, seed, **given) for name, size, seed in (("real", 60, 1), ("made", 40, 2), ("public", 50, 3))
    }
    if schema is not None and not is_text:
        sizes = {name: made.drop(columns="stars") for name, made in sizes.items()}
    options = {"embedder": "tfidf"} if is_text else {}
    found = evaluate(sizes["real"], sizes["made"], public=sizes["public"], schema=schema, seeds=1, **options)
    assert ("modality" in found) == is_text


def test_an_option_of_texts_says_what_the_tables_are_about():
    wide = {"wide": 1, "more": 2}
    assert measure(frame(60, 1, **wide), frame(40, 2, **wide), public=frame(40, 3, **wide))["modality"] == "text"
    with pytest.raises(SpecError, match="embedder is for texts"):
        measure(REAL[["liked", "stars"]], HALF[["liked", "stars"]], public=None)
    with pytest.raises(SpecError, match="task is for texts"):
        evaluate(REAL[["liked"]], HALF[["liked"]], task="regression")


def test_the_column_is_named_where_there_are_two():
    two = [made.assign(title=made["review"].str.upper() + " once more") for made in (REAL, HALF, PUBLIC)]
    assert "modality" not in evaluate(two[0], two[1], public=two[2], seeds=1, geometry=False)
    found = measure(two[0], two[1], public=two[2], text_column="title", geometry=False)
    assert found["geometry"] is None
    assert "'review'" in found["warnings"][0]
    with pytest.raises(SchemaError, match="expected one text column 'titel' in the real table"):
        measure(text_column="titel")
    schema = {"columns": [{"name": "review", "type": "text"}, {"name": "title", "type": "text"}]}
    with pytest.raises(SchemaError, match="found 'review', 'title'"):
        measure(two[0], two[1], public=two[2], schema=schema)


@pytest.mark.parametrize(
    ("target", "task", "found"),
    [
        ("liked", "auto", "classification"),
        ("stars", "auto", "classification"),
        ("stars", "regression", "regression"),
        ("price", "auto", "regression"),
    ],
)
def test_what_is_predicted(target, task, found):
    tables = [made.assign(price=made["stars"] * 1.5 + 0.25 * (made.index % 90)) for made in (REAL, HALF, PUBLIC)]
    measured = measure(tables[0], tables[1], public=tables[2], target=target, task=task)
    assert measured["downstream"]["task"] == found
    if target == "stars":
        assert scores(measured)["synthetic"]["auc" if task == "auto" else "spearman"] > 0.8


def test_targets_that_cannot_be_learned_are_refused():
    for target, said in (("missing", "target='missing'"), ("review", "target='review'")):
        with pytest.raises(SpecError, match=said):
            measure(target=target)
    with pytest.raises(SpecError, match="task='ranking'"):
        measure(task="ranking")
    words = REAL.assign(liked=np.where(REAL["liked"], "yes, very much", "no"))
    with pytest.raises(SpecError, match="numbers to predict by regression"):
        measure(words, words, public=None, target="liked", task="regression")


def test_public_texts_need_no_target_and_rows_without_texts_are_left_out():
    made = HALF.copy()
    made.loc[:9, "review"] = [None, "", " "] + [None] * 7
    real = REAL.copy()
    real.loc[:49, "review"] = None
    found = measure(real, made, public=PUBLIC[["review"]], target="liked")
    assert "public" not in scores(found)
    assert (found["real_rows"], found["synthetic_rows"]) == (150, 90)
    assert "10 of 100 synthetic rows have no text and are left out" in found["warnings"]
    assert not any("real rows have no" in warning for warning in found["warnings"])
    with pytest.raises(SpecError, match="column 'review' of the synthetic table"):
        measure(made=HALF.assign(review=""))


class Remote:
    name, local = "elsewhere", False

    def encode(self, texts):
        raise AssertionError("a text was sent away")


def test_texts_never_leave_through_the_embedder():
    with pytest.raises(SpecError, match="embedder='elsewhere', which sends texts away"):
        measure(embedder=Remote())


@pytest.mark.parametrize("public", [PUBLIC, None])
def test_an_encoder_never_learns_from_real_texts(monkeypatch, public):
    learned, fit = [], TfidfEncoder.fit

    def note(texts):
        learned.extend(texts)
        return fit(texts)

    monkeypatch.setattr(TfidfEncoder, "fit", note)
    measure(public=public, geometry=False)
    assert learned == (HALF if public is None else PUBLIC)["review"].tolist()


def test_a_missing_model_says_how_to_go_on(monkeypatch):
    def missing(name, public):
        raise EnvironmentFailure("no model")

    monkeypatch.setattr("evomix.experiment.evaluating_texts.make_encoder", missing)
    with pytest.raises(EnvironmentFailure, match=r"no model.*--embedder tfidf.*'review' as 'id'"):
        evaluate(REAL, HALF)


class Recording:
    """An encoder that notes what it was given."""

    name, local = "recording", True

    def __init__(self):
        self.seen = []

    def encode(self, texts):
        self.seen += texts
        return np.array([[len(text) % 7, len(text) % 5, 1.0] for text in texts], np.float32)


def test_vectors_are_made_of_a_sample_of_large_tables(monkeypatch):
    monkeypatch.setattr("evomix.experiment.evaluating_texts.MOST_EMBEDDED", 30)
    encoder = Recording()
    found = measure(embedder=encoder, target="liked")
    assert len(encoder.seen) == 90
    assert (found["real_rows"], found["copies"][1]["corpus_texts"]) == (200, 150)


def test_canaries_are_looked_for_and_not_told():
    secrets = [f"canary code {k * 7919} opens the vault of door {k * 31}" for k in range(40)]
    table = pd.DataFrame({"review": secrets, "planted": [k < 20 for k in range(40)]})
    leaky = HALF.copy()
    leaky.loc[:4, "review"] = [f"Honestly, {secret}." for secret in secrets[:5]]
    found = measure(made=leaky, canaries=table)
    assert found["canaries"]["literal"]["share"] == 0.25
    assert found["warnings"][0].startswith("CANARIES: 5 of 20")
    clean = measure(canaries=table)["canaries"]
    assert clean["literal"]["share"] == clean["reference_literal"]["share"] == 0.0
    assert not any(secret in json.dumps(clean) for secret in secrets)
    with pytest.raises(SchemaError, match="column 'planted'"):
        measure(canaries=table[["review"]])
    with pytest.raises(SchemaError, match="true or false in every row"):
        measure(canaries=table.assign(planted="perhaps"))


def test_files_reports_and_hostile_texts(tmp_path):
    odd = '<script>alert("x")</script> مرحبا يا هاتف جميل 👍🏽 & that was it, friends'
    made, public = HALF.copy(), PUBLIC.copy()
    made.loc[0, "review"] = public.loc[0, "review"] = odd
    paths = {name: tmp_path / f"{name}.csv" for name in ("real", "made", "public")}
    for name, table in (("real", REAL), ("made", made), ("public", public)):
        table.to_csv(paths[name], index=False)
    report = tmp_path / "report.html"
    found = evaluate_files(
        paths["real"], paths["made"], public=paths["public"], target="liked", report=report, embedder="tfidf", seeds=1
    )
    page = report.read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "مرحبا يا هاتف جميل 👍🏽" in page
    assert '<td dir="auto">' in page
    assert found["copies"][1]["closest"][0]["similarity"] == 1.0
    assert not any(text in page for text in REAL["review"])
    for heading in ("Predicting liked", "Geometry", "Lengths", "Words", "Measured risk: repeated texts"):
        assert f"<h3>{heading}</h3>" in page
    assert "://" not in page
    assert "src=" not in page
