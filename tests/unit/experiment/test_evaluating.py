import numpy as np
import pandas as pd
import pytest

from evomix.core.errors import EvomixError, InputFileError, SpecError
from evomix.experiment.evaluating import evaluate, evaluate_files


def frame(n, seed, words=(False, True), gaps=0):
    rng = np.random.default_rng(seed)
    flags = np.array(words, dtype=object)[(rng.random(n) < 0.3).astype(int)]
    flags[:gaps] = None
    return pd.DataFrame({"age": rng.integers(18, 90, n), "smokes": flags})


def tv_of_flag(figures):
    (score,) = [column for column in figures["fidelity"]["columns"] if column["column"] == "smokes"]
    return score["tv"]


@pytest.mark.parametrize(
    "words", [("true", "false"), ("True", "False"), ("TRUE", "FALSE"), (True, False), ("1", "0"), (1, 0), ("yes", "no")]
)
@pytest.mark.parametrize("gaps", [0, 40])
def test_booleans_are_compared_by_meaning(tmp_path, words, gaps):
    real, made = tmp_path / "real.csv", tmp_path / "made.csv"
    frame(800, 1, ("False", "True"), gaps).to_csv(real, index=False)
    frame(800, 2, words[::-1], gaps).to_csv(made, index=False)
    assert tv_of_flag(evaluate(real, made, public=real)) < 0.1
    assert tv_of_flag(evaluate(frame(800, 1, (False, True), gaps), made)) < 0.1
    frame(800, 2, words, gaps).to_csv(made, index=False)
    assert tv_of_flag(evaluate(real, made)) > 0.3, "the opposite is told apart"


def test_words_that_are_no_truths_stay_categories():
    real, made = frame(300, 1, ("false", "true")), frame(300, 2, ("false", "maybe"))
    assert 0.2 < tv_of_flag(evaluate(real, made)) < 0.4
    assert tv_of_flag(evaluate(frame(300, 1, ("no", "yes")), frame(300, 2, ("no", "yes")))) < 0.15


def test_encodings_of_the_real_and_the_public_file(tmp_path):
    real, public, made = (tmp_path / f"{name}.csv" for name in ("real", "public", "made"))
    frame(80, 1, ("nö", "ja")).to_csv(real, index=False, encoding="cp1252")
    frame(80, 2, ("nö", "ja")).to_csv(public, index=False, encoding="utf-16")
    frame(80, 3, ("nö", "ja")).to_csv(made, index=False)
    figures = evaluate_files(real, made, public=public, encoding="cp1252", public_encoding="utf-16")
    assert tv_of_flag(figures) < 0.3
    assert figures["verdict"].startswith("On ")
    with pytest.raises(InputFileError, match="--encoding"):
        evaluate_files(real, made)
    with pytest.raises(SpecError, match="encoding='klingon'"):
        evaluate(made, made, encoding="klingon")


def test_tables_with_other_columns_are_refused():
    with pytest.raises(EvomixError, match="synthetic differs in 'smokes'"):
        evaluate(frame(20, 1), frame(20, 1)[["age"]])
