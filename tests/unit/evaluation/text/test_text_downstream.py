import numpy as np
import pytest
from text_sets import flipped, reviews, stars

from evomix.core.errors import SpecError
from evomix.evaluation.text.downstream import text_downstream
from evomix.evaluation.text.learners import LinearLearner
from evomix.evaluation.text.text_set import TextSet

REAL = reviews(400, 1)


def scores(real, synthetic, public=None, task="classification", **options):
    found = text_downstream(real, synthetic, target="opinion", task=task, public=public, **options)
    return found, {arm.name: {name: score.mean for name, score in arm.scores.items()} for arm in found.arms}


def test_good_texts_come_near_the_ceiling_and_wrong_ones_do_not():
    _, good = scores(REAL, reviews(150, 2), reviews(300, 3))
    assert good["real_all"]["accuracy"] > 0.9
    assert good["synthetic"]["macro_f1"] == pytest.approx(good["real_same_rows"]["macro_f1"], abs=0.05)
    assert good["guess"]["auc"] == 0.5
    assert list(good) == ["synthetic", "real_same_rows", "real_all", "public_same_rows", "public", "guess"]
    _, wrong = scores(REAL, flipped(reviews(150, 2)))
    assert wrong["synthetic"]["accuracy"] < 0.1
    assert "public" not in wrong


def test_regression_and_its_ranks():
    real, made = stars(REAL), stars(reviews(200, 2))
    _, good = scores(real, made, task="regression")
    assert good["synthetic"]["spearman"] > 0.95
    assert good["synthetic"]["rmse"] == pytest.approx(0.1, abs=0.03)
    assert good["guess"]["spearman"] == 0.0
    _, wrong = scores(real, TextSet(made.texts, made.vectors, made.targets[::-1]), task="regression")
    assert wrong["synthetic"]["rmse"] > 0.5


def test_the_public_floor_of_as_many_texts_is_drawn_anew_each_seed():
    found, _ = scores(REAL, reviews(20, 2), reviews(300, 3), seeds=4)
    sizes = {arm.name: arm.rows for arm in found.arms}
    assert (sizes["public_same_rows"], sizes["public"], sizes["real_same_rows"], sizes["real_all"]) == (
        20,
        300,
        20,
        280,
    )
    (arm,) = [arm for arm in found.arms if arm.name == "public_same_rows"]
    assert arm.scores["auc"].sd > 0.0


def test_classes_that_synthetic_texts_lack_count_as_missed_and_are_not_named():
    found, by_arm = scores(REAL, reviews(100, 2, classes=(1,)))
    assert by_arm["synthetic"]["accuracy"] == pytest.approx(0.5, abs=0.1)
    assert found.warnings == ("the synthetic texts lack classes of 'opinion', which count as missed: 1",)
    assert found.rare in ((), ("good",)), "a class known from real texts alone has no name here"
    public, _ = scores(REAL, reviews(100, 2, classes=(1,)), reviews(50, 3))
    assert "missed: 'bad'" in public.warnings[0]


def test_a_class_of_public_texts_alone_is_known_and_never_right():
    odd = TextSet(["odd"] * 40, np.full((40, 4), 3.0), np.array(["odd"] * 40, object))
    _, by_arm = scores(REAL, reviews(100, 2), odd)
    assert by_arm["public"]["accuracy"] == 0.0


def test_missing_targets_are_left_out():
    real = TextSet(REAL.texts, REAL.vectors, REAL.targets.copy())
    real.targets[:200] = None
    found, _ = scores(real, reviews(100, 2))
    assert found.test_rows == 60
    numbers = stars(REAL)
    numbers.targets[:200] = np.nan
    found, _ = scores(numbers, stars(reviews(100, 2)), task="regression")
    assert found.test_rows == 60
    none = TextSet(REAL.texts, REAL.vectors, np.full(len(REAL), None, object))
    found, by_arm = scores(REAL, none, none)
    assert "synthetic" not in by_arm
    assert len(found.warnings) == 2
    assert scores(none, REAL)[0].arms == ()


def test_public_texts_without_targets_are_no_floor():
    found, by_arm = scores(REAL, reviews(100, 2), TextSet(["a", "b"], np.zeros((2, 4))))
    assert "public" not in by_arm
    assert "no public text has a 'opinion'" in found.warnings[0]


def test_one_class_one_text_and_constant_targets_are_learned_without_noise():
    _, by_arm = scores(REAL.take(np.arange(2)), reviews(1, 2))
    assert by_arm["synthetic"]["accuracy"] in (0.0, 1.0)
    same = TextSet(REAL.texts, REAL.vectors, np.full(len(REAL), 2.0))
    _, by_arm = scores(same, stars(reviews(1, 2)), task="regression")
    assert by_arm["synthetic"]["spearman"] is None
    learned = LinearLearner().predict_classes(REAL, np.ones(400, np.int64), REAL, classes=3, seed=0)
    assert (learned == [0.0, 1.0, 0.0]).all()


def test_what_has_no_target_is_refused():
    with pytest.raises(SpecError, match="target='opinion' of the synthetic texts"):
        scores(REAL, TextSet(["a"], np.zeros((1, 4))))
    with pytest.raises(SpecError, match="task='ranking'"):
        scores(REAL, REAL, task="ranking")
