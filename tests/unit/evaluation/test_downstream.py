import numpy as np
import pytest
from evaluation_tables import COLUMNS, Made, X, independent_rows, related_rows
from sklearn.metrics import f1_score, roc_auc_score

from evomix.core.errors import SpecError
from evomix.evaluation import models
from evomix.evaluation.downstream import downstream
from evomix.evaluation.features import make_features
from evomix.evaluation.scores import classification_scores, regression_scores


def score(real, synthetic, target, columns=COLUMNS, public=None, seeds=2):
    found = downstream(real, synthetic, columns, target=target, public=public, seeds=seeds, rng_seed=0)
    return found, {arm.name: {key: s.mean for key, s in arm.scores.items()} for arm in found.arms}


def test_good_rows_near_the_ceiling_bad_rows_near_the_floor():
    real = related_rows(800, 1)
    _, good = score(real, related_rows(400, 2), "group", seeds=1)
    _, bad = score(real, independent_rows(400, 2), "group", seeds=1)
    assert good["synthetic"]["accuracy"] > 0.9 * good["real_same_rows"]["accuracy"]
    assert bad["synthetic"]["accuracy"] < good["guess"]["accuracy"] + 0.15
    assert good["guess"]["auc"] == 0.5
    assert list(good) == ["synthetic", "real_same_rows", "real_all", "guess"]


def test_as_many_real_rows_are_no_arm_of_their_own_where_they_are_all():
    real = related_rows(100, 1)  # 70 to train on
    assert "real_same_rows" in score(real, related_rows(69, 2), "flag", seeds=1)[1]
    for rows in (70, 71):
        arms = score(real, related_rows(rows, 2), "flag", seeds=1)[1]
        assert list(arms) == ["synthetic", "real_all", "guess"]


def test_lost_class_counts_as_missed_and_scores_stay_finite():
    found, scores = score(related_rows(800, 1, rare=0.08), related_rows(400, 2, rare=0.0), "group")
    assert found.rare == ("rare",)
    assert scores["synthetic"]["rare_recall"] == 0.0
    assert all(np.isfinite(value) for arm in scores.values() for value in arm.values())
    assert "lacks classes of 'group'" in found.warnings[0]


@pytest.mark.parametrize("rows", [np.tile([1.0, 2.0, 0.0, 1.0], (30, 1)), np.array([[1.0, np.nan, 2.0, 0.0]])])
@pytest.mark.parametrize("target", ["x", "y", "group", "flag"])
def test_degenerate_training_sets_work(rows, target):
    found, scores = score(related_rows(60, 1), rows, target, seeds=1)
    present = not np.isnan(rows[:, [c.name for c in COLUMNS].index(target)]).all()
    assert ("synthetic" in scores) == present
    assert all(np.isfinite(v) for arm in scores.values() for v in arm.values() if v is not None)
    assert present or "no synthetic row has a 'y'" in found.warnings[0]


def test_numbers_are_regressed_and_few_whole_values_classified():
    real = related_rows(600, 1)
    found, scores = score(real, related_rows(600, 2), "y", public=independent_rows(300, 3), seeds=1)
    assert found.task == "regression"
    assert scores["synthetic"]["r2"] > 0.8
    assert scores["public"]["r2"] < 0.3
    assert scores["guess"]["r2"] == pytest.approx(0.0, abs=0.05)
    assert scores["synthetic"]["rmse"] < scores["guess"]["rmse"]
    few = Made("few", "integer", min=10, max=29)
    rows = np.column_stack([real[:, 0], 10 + real[:, 0] // 5])
    found, scores = score(rows, rows, "few", (X, few), seeds=1)
    assert found.task == "classification"
    assert scores["real_all"]["accuracy"] > 0.8


def test_same_seed_same_scores_and_spread_over_seeds():
    real, made = related_rows(300, 1), related_rows(200, 2)
    first, again = (score(real, made, "flag", seeds=3)[0] for _ in range(2))
    assert first == again
    assert first.arms[0].scores["accuracy"].sd > 0
    assert score(real, made, "flag", seeds=1)[0].arms[0].scores["accuracy"].sd is None


def test_unknown_target_and_too_few_rows():
    with pytest.raises(SpecError, match="target='nope'"):
        score(related_rows(10, 1), related_rows(10, 2), "nope")
    found, scores = score(related_rows(1, 1), related_rows(10, 2), "flag")
    assert scores == {}
    assert "too few real rows" in found.warnings[0]


def test_wide_categories_become_frequency_ranks_and_unseen_ones_do_not_break():
    wide = Made("w", "category", values=tuple(map(str, range(300))))
    narrow = Made("n", "category", values=("a", "b", "c"))
    train = np.array([[7.0, 0.0, 0.0], [7.0, 1.0, 1.0], [9.0, 0.0, 0.0]])
    test = np.array([[9.0, 2.0, 0.0], [250.0, np.nan, 1.0], [7.0, 0.0, 0.0]])
    features = make_features(train, test, (wide, narrow, COLUMNS[3]), target=2)
    assert features.categorical.tolist() == [False, True]
    assert features.train[:, 0].tolist() == [0.0, 0.0, 1.0]
    assert features.test[[0, 2], 0].tolist() == [1.0, 0.0]
    assert features.test[1, 0] >= 2.0
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 300, 200), rng.integers(0, 2, 200), rng.integers(0, 2, 200)])
    unseen = rows.copy()
    unseen[:, 1] = 2
    _, scores = score(unseen.astype(float), rows.astype(float), "flag", (wide, narrow, COLUMNS[3]), seeds=1)
    assert np.isfinite(scores["synthetic"]["accuracy"])


def test_only_the_most_frequent_of_very_many_classes_are_learned(monkeypatch):
    monkeypatch.setattr(models, "MOST_CLASSES", 2)
    codes = np.repeat([0.0, 1.0, 2.0], [20, 60, 60])
    column = Made("k", "category", values=("a", "b", "c"))
    _, scores = score(np.column_stack([30 * codes, codes]), np.column_stack([30 * codes, codes]), "k", (X, column))
    assert scores["real_all"]["rare_recall"] == 0.0
    assert scores["real_all"]["accuracy"] > 0.8


def test_scores_agree_with_their_definitions():
    rng = np.random.default_rng(5)
    truth = rng.choice(3, 400, p=[0.6, 0.35, 0.05])
    chances = rng.dirichlet(np.ones(3), 400) + 0.8 * np.eye(3)[truth]
    chances /= chances.sum(axis=1, keepdims=True)
    found = classification_scores(truth, chances)
    assert found["auc"] == pytest.approx(roc_auc_score(truth, chances, multi_class="ovr"))
    assert found["macro_f1"] == pytest.approx(f1_score(truth, chances.argmax(axis=1), average="macro"))
    rare = truth == 2
    assert found["rare_recall"] == pytest.approx((chances.argmax(axis=1)[rare] == 2).mean())
    assert classification_scores(np.zeros(5, dtype=int), np.full((5, 2), 0.5))["auc"] is None


def test_r2_of_a_constant_truth_is_undefined():
    assert regression_scores(np.full(4, 2.0), np.full(4, 1.0)) == {"rmse": 1.0, "r2": None}
