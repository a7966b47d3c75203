"""``evomix evaluate`` on texts, with nothing put in its place."""

import numpy as np
import pandas as pd
import pytest


def review(n, seed, things):
    rng = np.random.default_rng(seed)
    stars = rng.integers(1, 6, n)
    words = np.array(["awful", "poor", "fair", "good", "superb"])[stars - 1]
    texts = [
        f"A {word} {rng.choice(things)} with a {word} {rng.choice(things)} for {rng.integers(10**5)} people"
        for word in words
    ]
    return pd.DataFrame({"text": texts, "stars": stars})


@pytest.fixture
def files(tmp_path):
    tables = {
        "real": review(120, 1, ("phone", "cable", "screen")),
        "made": review(60, 2, ("phone", "cable", "screen")),
        "public": review(80, 3, ("film", "plot", "actor", "phone")),
    }
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    canaries = [f"safe {k} has the code {k * 7919}" for k in range(10)]
    pd.DataFrame({"text": canaries, "planted": [k % 2 == 0 for k in range(10)]}).to_csv(
        tmp_path / "canaries.csv", index=False
    )
    named = ((name, str(tmp_path / f"{name}.csv")) for name in (*tables, "canaries"))
    return dict(named) | {"report": str(tmp_path / "report.html")}


def ask(evomix, files, *more):
    sets = ("--real", files["real"], "--synthetic", files["made"], "--public", files["public"])
    return evomix("evaluate", *sets, "--embedder", "tfidf", "--seeds", "2", *more)


def test_figures_of_texts_are_printed_and_written(evomix, files):
    answer = ask(evomix, files, "--target", "stars", "--canaries", files["canaries"], "-o", files["report"])
    assert answer.code == 0, answer.err
    assert "epsilon is infinite" in answer.err
    lines = answer.out.splitlines()
    for line in (
        "models that predict stars on 36 held-out real rows",
        "lengths (W1: distance to the lengths of real texts)",
        "words (60 texts of each set)",
        "canaries (5 planted, 5 references)",
        f"report: {files['report']}",
    ):
        assert line in lines
    assert "safe" not in answer.out + answer.err


def test_numbers_as_json(evomix, files):
    answer = ask(evomix, files, "--target", "stars", "--task", "regression", "--no-geometry", "--json")
    assert answer.json["downstream"]["task"] == "regression"
    synthetic, *_ = answer.json["downstream"]["arms"]
    assert synthetic["scores"]["spearman"]["mean"] > 0.8
    assert answer.json["geometry"] is None


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--text-column", "txt"), "expected one text column 'txt'"),
        (("--classifier", "no/such/folder", "--target", "stars"), "classifier='no/such/folder'"),
        (("--task", "guessing"), "task='guessing'"),
    ],
)
def test_what_is_wrong_is_said(evomix, files, more, said):
    answer = ask(evomix, files, *more)
    assert answer.code == 2
    assert said in answer.err
