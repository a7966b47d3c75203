import math

import numpy as np
import pytest

from evomix.privacy.gaussian_accounting import gaussian_stddev
from evomix.privacy.mechanisms.linmix import linmix
from evomix.reproduction.releases import Budget
from evomix.reproduction.text_curves import ALL_CURVES, GAPE, METRICS, RANK, Scores, Setting, measure, run, spending_of
from evomix.reproduction.text_embedding import fit_embedder
from evomix.reproduction.text_evolution import ROUNDS, evolve_texts, set_scene, start
from evomix.reproduction.text_mechanisms import Spending, gaussian, public_mixing, uniform_mixing
from evomix.reproduction.texts import split_texts

N = 1_000
FREE = Spending(Budget(math.inf, 1e-4, N), 10, 200, 50)
BOUND = Spending(Budget(2.0, 1e-4, N), 10, 200, 50)
VOTES = np.arange(40.0) / np.arange(40.0).sum() * N
EVEN = np.ones(40)


def drawn(privatise, votes=VOTES, public=EVEN, *, times, seed=0):
    rng = np.random.default_rng(seed)
    return [privatise(votes, public, rng) for _ in range(times)]


def test_gaussian_noise_is_that_of_all_rounds_together():
    stddev = gaussian_stddev(2.0, 1e-4, rounds=10, adjacency="replace-one")
    found = drawn(gaussian(BOUND), times=500)
    assert {release.stddev for release in found} == {stddev}
    noise = np.stack([release.votes - VOTES for release in found])
    # 20,000 values: the ratio has a standard error of 0.005, so 0.03 is six of them; one round's noise is a third.
    assert noise.std() / stddev == pytest.approx(1.0, abs=0.03)
    assert noise.mean() == pytest.approx(0.0, abs=6 * stddev / math.sqrt(noise.size))


def test_without_a_budget_votes_are_exact_and_draws_come_from_records_alone():
    assert np.array_equal(drawn(gaussian(FREE), times=1)[0].votes, VOTES)
    for privatise in (uniform_mixing(FREE), public_mixing(FREE, np.arange(40), 40, np.random.default_rng(0))):
        release = drawn(privatise, times=1)[0]
        assert release.mixing_weight == 0.0
        assert release.counts[0] == 0
        assert release.draws == 200


def mean_shares(privatise, public):
    return np.mean([release.shares() for release in drawn(privatise, public=public, times=400)], axis=0)


def test_linmix_spends_the_draws_of_all_rounds_and_is_unbiased():
    expected = linmix(2.0, 1e-4, units=N, draws=2_000, candidates=50)
    release = drawn(uniform_mixing(BOUND), times=1)[0]
    assert release.mixing_weight == expected.mixing_weight > 0.1
    assert np.allclose(release.noise_distribution, 1 / 40)
    error = math.sqrt(0.06 / 80_000) / (1.0 - release.mixing_weight)  # no candidate has more than 6 % of the draws
    assert np.abs(mean_shares(uniform_mixing(BOUND), EVEN) - VOTES / N).max() < 6 * error


def test_pubmix_keeps_its_weight_and_never_goes_below_its_floor():
    nearest = np.repeat(np.arange(40), 3)[:-30]  # the last ten candidates have no public vote
    privatise = public_mixing(BOUND, nearest, 40, np.random.default_rng(0))
    public = np.bincount(nearest, minlength=40).astype(float)
    first = drawn(privatise, public=public, times=1)[0]
    assert 0.0 < first.mixing_weight < 1.0
    assert np.allclose(first.prior, public / public.sum())
    assert first.noise_distribution[:30].min() > first.noise_distribution[30:].max()
    votes, others = np.full(50, N / 50), np.zeros(50)
    others[7] = 90.0
    later = drawn(privatise, votes, others, times=1)[0]
    assert later.mixing_weight == first.mixing_weight
    assert later.noise_distribution.argmax() == 7
    assert later.noise_distribution.min() >= 0.999 * first.noise_distribution.min()
    error = math.sqrt(0.06 / 80_000) / (1.0 - first.mixing_weight)
    assert np.abs(mean_shares(privatise, public) - VOTES / N).max() < 6 * error


@pytest.fixture(scope="module")
def scene(texts):
    split = split_texts(texts, shifted=True, ratio=30, seed=0)
    return set_scene(split, fit_embedder(list(split.public)), seed=0)


class Keeper:
    """Keeps the first candidates, and notes what it was shown."""

    def __init__(self):
        self.seen = []

    def parents(self, release, candidates, size, rng):
        self.seen.append((len(candidates), release.estimate().sum()))
        return np.arange(size)

    def shares(self, release, candidates, size, rng):
        found = np.zeros(len(candidates))
        found[[2, 1]] = 0.25, 0.75
        return found

    def describe(self, release):
        return {}


def test_every_round_votes_on_at_most_eight_candidates_a_text(scene):
    keeper = Keeper()
    outcome = evolve_texts(scene, lambda *_: gaussian(spending_of(scene, math.inf)), keeper)
    assert len(keeper.seen) == ROUNDS
    assert max(size for size, _ in keeper.seen) <= scene.candidates == 8 * scene.split.size
    assert {votes for _, votes in keeper.seen} == {len(scene.private)}
    # The first candidates are the parents, so the first two texts to begin with are still there.
    assert np.array_equal(outcome.points, scene.vectors(start(scene)[: scene.split.size]))
    assert np.array_equal(outcome.rows, scene.vectors(start(scene)[[1, 2]]))
    assert outcome.shares.tolist() == [0.75, 0.25]


@pytest.mark.parametrize("curve", ALL_CURVES, ids=lambda curve: curve.name)
def test_a_run_is_that_of_its_seed(scene, curve):
    one, other = (run(scene, curve, 4.0, radius=5.0) for _ in range(2))
    assert np.array_equal(one.points, other.points)
    assert len(one.points) == scene.split.size
    assert one.shares.sum() == pytest.approx(1.0)


def test_the_weighted_rows_of_gape_are_its_texts(scene):
    outcome = run(scene, GAPE, math.inf, radius=5.0)
    assert {tuple(row) for row in outcome.rows} == {tuple(row) for row in outcome.points}


def test_scores_by_hand(scene):
    scores = Scores.of(scene)
    own = scores(scene.private)
    assert own["recall"] == own["precision"] == own["different texts"] * scene.split.size / len(scene.private) == 1.0
    assert own["W1"] == pytest.approx(0.0, abs=1e-9)
    smallest = scene.private[scene.split.topics == 2]
    assert own["smallest topic"] == pytest.approx(len(smallest) / len(scene.private))
    assert scores(smallest[:3])["smallest topic"] == 1.0
    two = np.stack([smallest[0], scene.private[scene.split.topics == 0][0]])
    assert scores(two, np.array([0.9, 0.1]))["smallest topic"] == pytest.approx(0.9)
    assert scores(two, np.array([0.9, 0.1]))["W1"] > scores(two)["W1"]


def test_votes_without_noise_lead_nearer_than_the_pool(texts):
    setting = Setting("x", "", shifted=True, ratio=20, curves=(RANK, GAPE))
    found = measure(setting, texts, embedder=None, epsilons=(math.inf,), seeds=2)
    assert set(found.values) == {"rank (Aug-PE)", "GAPE", "GAPE, weighted"}
    assert all(np.isfinite(found.values["GAPE"][metric]).all() for metric in METRICS)
    floor = found.references["public texts"]
    assert (found.values["GAPE"]["W1"][0] < floor["W1"]).all()
    assert (found.values["GAPE, weighted"]["W1"] <= found.values["GAPE"]["W1"]).all()
