import numpy as np
import pytest
from evaluation_tables import COLUMNS, independent_rows, related_rows

from evomix.evaluation.downstream import Arm, Downstream, Score
from evomix.evaluation.evaluate import evaluate
from evomix.evaluation.geometry import Points
from evomix.evaluation.verdict import loss_pairs


def said(synthetic, public, target="group", columns=COLUMNS):
    real = related_rows(1500, 1, rare=0.08)[:, : len(columns)]
    found = evaluate(real, synthetic, columns, public=public, target=target, seeds=1)
    assert found.to_dict()["verdict"] == found.verdict
    return found.verdict


GOOD, BAD = related_rows(1500, 2, rare=0.08), np.tile([0.0, 0.0, 0.0, 0.0], (1500, 1))


def test_the_verdict_is_told_in_both_directions():
    assert said(BAD, GOOD, None) == (
        "On 4 of 4 figures the public table alone is closer to the real rows than the synthetic one."
    )
    assert said(GOOD, BAD, None) == (
        "On 4 of 4 figures the synthetic table is closer to the real rows than the public table alone."
    )


@pytest.mark.parametrize(("target", "ending"), [("y", "5 of 5"), ("x", "5 of 5"), ("group", "7 of 8")])
def test_models_count_too_and_less_error_is_closer(target, ending):
    public = np.column_stack([independent_rows(1500, 3)[:, 0] // 9, *BAD.T[1:]])
    assert said(GOOD, public, target).startswith(f"On {ending} figures the synthetic table")


def test_figures_that_point_both_ways_and_those_that_are_equal():
    # Relations are kept in one table, single columns in the other.
    narrow = GOOD.copy()
    narrow[:, 3] = 0.0
    assert said(narrow, independent_rows(1500, 3), None) == (
        "On 2 of 4 figures the synthetic table is closer to the real rows than the public table alone; "
        "on 2 it is the other way round."
    )
    assert said(GOOD, GOOD, None) == (
        "On 0 of 4 figures the synthetic table is closer to the real rows than the public table alone; "
        "on 4 they are equally close."
    )
    assert said(BAD, GOOD).endswith("than the synthetic one; on 1 they are equally close.")  # both miss the rare class


def test_one_column_has_no_relations_to_count():
    assert said(BAD[:, :1], GOOD[:, :1], None, COLUMNS[:1]).startswith("On 1 of 1 figures the public")


@pytest.mark.parametrize("public", [None, np.empty((0, 4))])
def test_without_public_rows_there_is_no_verdict(public):
    assert said(GOOD, public, None) is None


def models_of(synthetic, public, real, sd):
    arms = [
        Arm(name, name, 10, {"accuracy": Score(mean, sd)})
        for name, mean in (("synthetic", synthetic), ("public", public), ("real_same_rows", real))
    ]
    return Downstream("y", "classification", 4, 10, (), tuple(arms), ())


@pytest.mark.parametrize(
    ("synthetic", "public", "real", "sd", "expected"),
    [
        (0.80, 0.78, 0.9, 0.0, (-0.80, -0.78)),
        (0.80, 0.78, 0.9, 0.04, (-0.80, -0.80)),  # within √2·0.04/√4
        (0.80, 0.76, 0.9, 0.04, (-0.80, -0.76)),
        (0.95, 0.92, 0.9, 0.0, (-0.90, -0.90)),  # both as good as real rows
        (0.95, 0.88, 0.9, 0.0, (-0.90, -0.88)),
    ],
)
def test_scores_within_chance_or_beyond_real_rows_are_equally_close(synthetic, public, real, sd, expected):
    (found,) = loss_pairs(models_of(synthetic, public, real, sd))
    assert found == pytest.approx(expected)


def test_rows_as_points_count_too():
    rng = np.random.default_rng(0)
    real, near, far = rng.normal(size=(300, 2)), rng.normal(size=(300, 2)), 3.0 + rng.normal(size=(300, 2))
    found = evaluate(
        related_rows(300, 1),
        related_rows(300, 2),
        COLUMNS,
        public=BAD[:300],
        target=None,
        points=Points(real, near, far),
    )
    assert found.verdict.startswith("On 7 of 7 figures the synthetic table")
