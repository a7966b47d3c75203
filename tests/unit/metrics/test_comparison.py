import json
from functools import partial

import numpy as np
import pytest

from evomix import metrics
from evomix.core.errors import SpecError
from evomix.metrics.comparison import _split


def sample(n, seed, shift=0.0):
    return np.random.default_rng(seed).normal(size=(n, 4)) + shift


@pytest.fixture(scope="module")
def good():
    return metrics.compare(sample(300, 1), sample(200, 2), reference=sample(250, 3), public=sample(400, 4, 1.5))


def test_another_real_sample_scores_as_the_ceiling_and_above_the_floor(good):
    assert [row.name for row in good.rows] == list(metrics.MEASURES)
    for row in good.rows:
        sign = 1.0 if row.better == "higher" else -1.0
        gap = abs(row.ceiling.value - row.floor.value)
        assert sign * (row.synthetic.value - row.floor.value) > 0.6 * gap, row.name
        assert abs(row.synthetic.value - row.ceiling.value) < 0.4 * gap, row.name


def test_all_sets_have_one_size(good):
    assert (good.real_points, good.synthetic_points, good.public_points) == (300, 200, 200)
    for row in good.rows:
        assert row.synthetic.points == row.ceiling.points == row.floor.points == (300, 200)
        assert row.synthetic.exact
        assert not row.ceiling.exact
        assert np.isnan(row.ceiling.error)
    small = metrics.compare(sample(300, 1), sample(200, 2), reference=sample(50, 3), public=sample(30, 4))
    assert (small.synthetic_points, small.public_points) == (50, 30)


def test_a_ceiling_of_another_size_would_mislead():
    """Forty good points beside a ceiling of a thousand look bad; beside one of forty they do not."""
    real, made, apart = sample(600, 1), sample(40, 2), sample(1000, 3)
    row = metrics.compare(real, made, reference=apart, measures=["recall"])["recall"]
    unequal = metrics.recall(real, apart)
    assert unequal - row.synthetic.value > 0.4
    assert abs(row.ceiling.value - row.synthetic.value) < 0.1


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("precision", metrics.precision),
        ("recall", metrics.recall),
        ("synthetic_recall", metrics.synthetic_recall),
        ("wasserstein", metrics.wasserstein),
        ("frechet", metrics.frechet),
        ("mauve", partial(metrics.mauve, seed=7)),
    ],
)
def test_each_figure_is_that_of_its_function(name, figure):
    real, made, apart, public = sample(90, 1), sample(70, 2, 0.3), sample(70, 3), sample(70, 4, 1.0)
    row = metrics.compare(real, made, reference=apart, public=public, measures=[name], seed=7)[name]
    for found, points in ((row.synthetic, made), (row.ceiling, apart), (row.floor, public)):
        assert found.value == pytest.approx(float(figure(real, points)), rel=1e-12)
        assert (found.exact, found.error) == (True, 0.0)


def test_the_seed_is_that_of_its_functions():
    real, made = sample(90, 1), sample(70, 2, 0.3)
    row = metrics.compare(real, made, reference=made, measures=["wasserstein"], most_transported=30, seed=7)[
        "wasserstein"
    ]
    assert row.synthetic == metrics.wasserstein(real, made, most=30, seed=7)
    assert row.synthetic != metrics.wasserstein(real, made, most=30, seed=8)


def test_without_a_reference_real_points_are_split_and_none_serves_twice():
    real = np.arange(100.0)[:, None] ** 2
    found = metrics.compare(real, real[:30], measures=["precision", "recall"], k=1)
    assert (found.real_points, found.synthetic_points) == (70, 30)
    assert metrics.compare(real, np.tile(real, (3, 1)), measures=["recall"]).synthetic_points == 50
    target, apart = _split(real, 30, np.random.default_rng(0))
    assert sorted(np.concatenate([target, apart]).ravel()) == real.ravel().tolist()
    assert metrics.compare(real, real[:30], measures=["recall"])["recall"].floor is None


def test_larger_sets_are_sampled_and_say_so():
    found = metrics.compare(
        sample(500, 1), sample(400, 2), reference=sample(400, 3), measures=["recall", "wasserstein"], most=100,
        most_transported=40, seed=3,
    )  # fmt: skip
    assert (found.real_points, found.synthetic_points) == (100, 100)
    recall, transport = found["recall"].synthetic, found["wasserstein"].synthetic
    assert (recall.exact, recall.points) == (False, (100, 100))
    assert np.isnan(recall.error)
    assert (transport.exact, transport.points, transport.samples) == (False, (40, 40), 2)
    assert transport.error > 0.0
    again = metrics.compare(
        sample(500, 1), sample(400, 2), reference=sample(400, 3), measures=["recall", "wasserstein"], most=100,
        most_transported=40, seed=3,
    )  # fmt: skip
    assert str(again) == str(found)


def test_measures_may_be_left_open_or_come_in_any_collection():
    real, made = sample(60, 1), sample(40, 2)
    assert str(metrics.compare(real, made, measures=None)) == str(metrics.compare(real, made))
    for asked in (("recall", "frechet"), np.array(["recall", "frechet"]), iter(["recall", "frechet", "recall"])):
        assert [row.name for row in metrics.compare(real, made, measures=asked).rows] == ["recall", "frechet"]
    assert metrics.compare(real, made, measures=["recall"], seed=np.int8(3), k=np.int8(2), most=10**400).rows


def test_the_table_and_its_json(good):
    lines = str(good).splitlines()
    assert len(lines) == len(metrics.MEASURES) + 2
    assert lines[0].split() == ["synthetic", "ceiling", "floor", "better"]
    assert f"{good['recall'].synthetic.value:.4g}" in lines[2]
    assert lines[-1] == "200 points against 300 real ones; floor: 200 public points"
    content = json.loads(json.dumps(good.to_dict(), allow_nan=False))
    assert content["rows"][1]["ceiling"]["error"] is None
    assert content["rows"][1]["synthetic"]["value"] == good["recall"].synthetic.value
    with pytest.raises(KeyError):
        good["fidelity"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"measures": ["fid"]}, r"measures=\['fid'\]"),
        ({"measures": []}, "expected measures among"),
        ({"measures": "recall"}, "measures='recall'"),
        ({"measures": [["recall"]]}, r"measures=\[\['recall'\]\]"),
        ({"measures": 5}, "measures=5"),
        ({"most": 0}, "most=0"),
        ({"most": 1.5}, "most"),
        ({"most_transported": 0, "measures": ["recall"]}, "most_transported"),
        ({"k": "3", "measures": ["frechet"]}, "k='3'"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 1.5}, "seed"),
        ({"seed": "a"}, "seed"),
        ({"seed": 2**40}, "seed"),
        ({"public": np.ones((5, 3))}, "public of dimension 4"),
        ({"reference": np.full((5, 4), np.nan)}, "finite coordinates"),
        ({"public": np.ones((2, 4)), "measures": ["synthetic_recall"]}, "public points"),
        ({"real": np.ones((1, 4))}, "two real points"),
        ({"real": np.ones((4, 4)), "measures": ["recall"]}, "real points"),
    ],
)
def test_refusals_say_what_was_found(arguments, message):
    given = {"real": sample(20, 1), "synthetic": sample(10, 2)} | arguments
    with pytest.raises(SpecError, match=message):
        metrics.compare(given.pop("real"), given.pop("synthetic"), **given)
