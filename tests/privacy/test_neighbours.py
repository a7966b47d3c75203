"""An audit of the real release code on worst-case neighbours: it never shows a larger ε than was promised.

The audit is an attack: from many releases on two neighbours it learns an event on one half, then bounds ε from below on
the other half (Clopper-Pearson). It must stay below the proven ε, and it must convict mechanisms with less noise.
The noise is fresh at each run; a sound mechanism is convicted less than once in a hundred thousand runs.
"""

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import beta

from evomix.core.errors import PrivacyError
from evomix.curator.curator import Curator
from evomix.curator.records import PrivateRecords
from evomix.curator.voting import tally_units
from evomix.formats.row_source import MemoryRows
from evomix.neighbors.tabular import NUMBER, TabularIndex
from evomix.privacy.adjacency import LATTICE
from evomix.privacy.calibration import GRID, mixing_weight
from evomix.privacy.composition import calibrate_rounds
from evomix.privacy.mechanisms.allowance import Allowance, equal_shares
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.laplace import LaplaceHistogram
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.mechanisms.schedule import Schedule, accounted_round
from evomix.privacy.randomness import SystemSource
from evomix.privacy.rounds import RoundShape

RELEASES = 24_000
MISTAKE = 1e-6
EPSILON, DELTA, DRAWS, UNITS = 2.0, 0.05, 60, 3
CANDIDATES = np.arange(4, dtype=np.float32)[:, None]
UNIFORM = np.ones(4, np.int64)
# One unit votes for candidate 0, or for candidate 1; the others vote for 2, so that 0 and 1 have noise alone besides.
NEIGHBOURS = [0.0, 2.0, 2.0], [1.0, 2.0, 2.0]
PEOPLE = [("a", 0.0), ("a", 0.0), ("b", 2.0), ("c", 2.0)], [("a", 1.0), ("b", 2.0), ("c", 2.0)]


class _Codec:
    def encode(self, table):
        return table.column("x").to_numpy().astype(np.float32)[:, None]

    def decode(self, population):
        raise NotImplementedError


class _Embedder:
    def index(self, candidates):
        return TabularIndex(candidates, kinds=np.array([NUMBER], np.uint8), weights=np.ones(1, np.float32))


class _Ledger:
    def begin_round(self, round_index):
        pass


def _records(table, *, unit=None):
    return PrivateRecords(MemoryRows("private", table), _Codec(), columns=["x"], unit_column=unit)


def _rows(values):
    return _records(pa.table({"x": values}))


def _people(rows):
    return _records(pa.table({"person": [who for who, _ in rows], "x": [value for _, value in rows]}), unit="person")


def _calibrated(*, weight=1.0, floor=0.25):
    """Return a mixture for one release of DRAWS draws; it accounts for all the audit's draws at once."""
    beta_min = mixing_weight(EPSILON, DELTA, n=UNITS, draws=DRAWS, floor=0.25)
    numerator = int(beta_min * weight * GRID)
    return Mixture("linmix", numerator / GRID, floor, DRAWS * RELEASES, UNITS, EPSILON, DELTA)


class _Uncertified:
    """An account of many releases that lets everything pass, so that a broken mechanism can be put to the test."""

    def __init__(self, mechanism):
        self.units, self.mechanisms, self.draws = mechanism.units, (mechanism,) * RELEASES, (DRAWS,) * RELEASES

    def mechanism_of(self, round_index, proposed=None):
        return self.mechanisms[round_index]

    def spend(self, round_index, mechanism):
        pass


def _counts(records, mixture, weights):
    """Return how often candidates 0 and 1 were drawn in each of many releases, as the curator computes them."""
    curator = Curator(
        records,
        _Embedder(),
        _Uncertified(mixture),
        first_round=0,
        ledger=_Ledger(),
        source=SystemSource(),
    )
    return np.array([curator.release(index, CANDIDATES, weights).counts[:2] for index in range(RELEASES)])


def _at_least(hits, trials):
    return beta.ppf(MISTAKE, hits, trials - hits + 1) if hits else 0.0


def _at_most(hits, trials):
    return beta.ppf(1.0 - MISTAKE, hits + 1, trials - hits) if hits < trials else 1.0


def epsilon_shown(first, second, *, delta):
    """Return a lower bound on ε at ``delta`` from a statistic of many releases on both neighbours."""
    half = len(first) // 2

    def bound(first, second, threshold):
        low, high = (
            _at_least((first >= threshold).sum(), len(first)),
            _at_most((second >= threshold).sum(), len(second)),
        )
        return math.log((low - delta) / high) if low > delta else -math.inf

    levels = np.quantile(first[:half], np.linspace(0.0, 1.0, 200))
    best = max(levels, key=lambda level: bound(first[:half], second[:half], level))
    return bound(first[half:], second[half:], best)


def _difference(counts):
    return counts[:, 0] - counts[:, 1]


def _mixture_shown(pair, mixture, weights=UNIFORM):
    first, second = (_difference(_counts(records, mixture, weights)) for records in pair)
    return epsilon_shown(first, second, delta=DELTA)


@pytest.mark.slow
@pytest.mark.parametrize(
    "pair", [tuple(map(_rows, NEIGHBOURS)), tuple(map(_people, PEOPLE))], ids=["one row", "one person's rows"]
)
def test_the_mixture_keeps_its_promise_and_the_audit_is_no_blunt_knife(pair):
    shown = _mixture_shown(pair, _calibrated())
    assert 0.6 * EPSILON < shown <= EPSILON


@pytest.mark.slow
def test_a_fifth_less_noise_is_convicted():
    assert _mixture_shown(tuple(map(_rows, NEIGHBOURS)), _calibrated(weight=0.8)) > EPSILON


@pytest.mark.slow
def test_a_halved_floor_is_refused_and_would_be_convicted():
    thin = np.array([1, 1, 3, 3])
    with pytest.raises(PrivacyError, match="floor"):
        _calibrated().check_weights(thin)
    assert _mixture_shown(tuple(map(_rows, NEIGHBOURS)), _calibrated(floor=0.125), thin) > EPSILON


def _noisy_votes(values, mechanism):
    """Return (releases, candidates) noisy votes; candidates' noise is independent, so one call makes them all."""
    votes = tally_units(_Embedder().index(CANDIDATES), _rows(values), len(CANDIDATES), mass=LATTICE)[:2]
    return mechanism.privatise(np.tile(votes, RELEASES)).votes.reshape(RELEASES, 2)


def _histogram_shown(mechanism, *, delta, statistic=_difference):
    return epsilon_shown(*(statistic(_noisy_votes(values, mechanism)) for values in NEIGHBOURS), delta=delta)


@pytest.mark.slow
def test_the_gaussian_keeps_its_promise_and_half_its_noise_is_convicted():
    sound = GaussianHistogram.calibrate(EPSILON, DELTA, units=UNITS, rounds=1)
    assert 0.6 * EPSILON < _histogram_shown(sound, delta=DELTA) <= EPSILON
    broken = GaussianHistogram(sound.stddev / 2, 1, UNITS, EPSILON, DELTA)
    assert _histogram_shown(broken, delta=DELTA) > EPSILON


def test_the_laplace_keeps_its_promise_and_half_its_noise_is_convicted():
    def ratio(votes):
        return np.abs(votes[:, 0]) - np.abs(votes[:, 0] - 1) + np.abs(votes[:, 1] - 1) - np.abs(votes[:, 1])

    sound = LaplaceHistogram.calibrate(EPSILON, 1e-6, units=UNITS, rounds=1)
    assert 0.6 * EPSILON < _histogram_shown(sound, delta=1e-6, statistic=ratio) <= EPSILON
    broken = LaplaceHistogram(sound.scale / 2, 1, UNITS, EPSILON, 1e-6)
    assert _histogram_shown(broken, delta=1e-6, statistic=ratio) > EPSILON


MIXED_SHAPES = RoundShape("mixing", draws=DRAWS, floor=0.25), RoundShape("gaussian")


def _mixed_shown(rounds, *, times=1):
    """Return the ε that a mixture round and a Gaussian round, so many ``times``, show by their likelihood ratio."""
    evidence = [_evidence(*rounds) for _ in range(times)]
    return epsilon_shown(*(sum(of_one_table) for of_one_table in zip(*evidence, strict=True)), delta=DELTA)


def _evidence(mixing, gaussian):
    """Return the log-likelihood ratio (but for a constant) of many runs on both neighbours."""
    numerator = int(mixing.mixing_weight * GRID)
    mixture = Mixture("linmix", numerator / GRID, 0.25, DRAWS * RELEASES, UNITS, EPSILON, DELTA)
    histogram = GaussianHistogram(gaussian.stddev, 1, UNITS, EPSILON, DELTA)
    base, gain = mixture.mixing_weight * 0.25, (1.0 - mixture.mixing_weight) / UNITS
    evidence = []
    for values in NEIGHBOURS:
        drawn = _difference(_counts(_rows(values), mixture, UNIFORM)) * math.log1p(gain / base)
        evidence.append(drawn + _difference(_noisy_votes(values, histogram)) / gaussian.stddev**2)
    return evidence


@pytest.mark.slow
def test_rounds_that_differ_keep_their_promise_together():
    sound = calibrate_rounds(EPSILON, DELTA, MIXED_SHAPES, units=UNITS, accountant="pld")
    assert 0.6 * EPSILON < _mixed_shown(sound) <= EPSILON


@pytest.mark.slow
def test_rounds_that_differ_and_each_take_the_whole_budget_are_convicted():
    alone = [calibrate_rounds(EPSILON, DELTA, [shape], units=UNITS)[0] for shape in MIXED_SHAPES]
    draws = tuple(shape.draws for shape in MIXED_SHAPES)
    mechanisms = (
        Mixture("linmix", alone[0].mixing_weight, 0.25, DRAWS, UNITS, EPSILON, DELTA),
        GaussianHistogram(alone[1].stddev, 1, UNITS, EPSILON, DELTA),
    )
    for mechanism, each in zip(mechanisms, draws, strict=True):
        Schedule("pld", (mechanism,), (each,), EPSILON, DELTA)  # each meets the budget alone
    with pytest.raises(PrivacyError, match="do not meet"):
        Schedule("pld", mechanisms, draws, EPSILON, DELTA)
    assert _mixed_shown(alone) > EPSILON


def _chosen(*allowances):
    """Return a mixture and a Gaussian round, each as its allowance chooses it."""
    rounds = []
    for index, (name, draws, allowance) in enumerate(zip(("linmix", "gaussian"), (DRAWS, 0), allowances, strict=True)):
        mechanism = allowance.mechanism_of(index, allowance.choose(index, name, candidates=4))
        allowance.spend(index, mechanism)
        rounds.append(accounted_round(mechanism, draws))
    return rounds


@pytest.mark.slow
def test_rounds_chosen_as_they_come_keep_their_promise_and_a_filter_that_forgets_is_convicted():
    """The candidates are the same in every run here, so that what is chosen is too."""
    given = {"units": UNITS, "draws": (DRAWS, 0), "order": 3.0}
    sound = Allowance(EPSILON, DELTA, shares=equal_shares(2), **given)
    assert 0.4 * EPSILON < _mixed_shown(_chosen(sound, sound)) <= EPSILON
    nearly_all = (0.999, 0.001), (0.001, 0.999)
    forgetful = [Allowance(EPSILON, DELTA, shares=shares, **given) for shares in nearly_all]
    assert _mixed_shown(_chosen(*forgetful), times=2) > EPSILON  # four rounds, of which each is alone in its filter


def test_the_audit_itself_convicts_and_acquits_known_laws():
    rng = np.random.default_rng(0)
    answers = rng.random(RELEASES) < math.exp(1.0) / (1.0 + math.exp(1.0))  # randomized response with ε = 1
    lies = rng.random(RELEASES) >= math.exp(1.0) / (1.0 + math.exp(1.0))
    shown = epsilon_shown(answers.astype(float), lies.astype(float), delta=0.0)
    assert 0.8 < shown <= 1.0
