"""The audit has power: it comes near to a proven ε and convicts mechanisms with a little less noise.

Randomness is the system's, fresh at each run. A sound mechanism is convicted less than once in a million runs
(confidence 1 − 10⁻⁶); the margins of power are several standard deviations wide.
"""

import json
from dataclasses import replace

import numpy as np
import pytest

from evomix.audit import Claim, WorstCaseDraws, WorstCaseVotes, audit
from evomix.audit.worst_case import worst_case
from evomix.cli.app import main
from evomix.experiment.auditing import audit_run
from evomix.experiment.specimen import calibrated
from evomix.privacy.calibration import GRID
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.laplace import LaplaceHistogram

DELTA = 0.01
SURE = 1.0 - 1e-6


def pair(mechanism="linmix", epsilon=1.0, *, n=10, draws=20, candidates=5, **options):
    specimen = calibrated(mechanism, epsilon=epsilon, delta=DELTA, n=n, draws=draws, candidates=candidates, **options)
    (release,) = worst_case(specimen.rounds, Claim(epsilon, DELTA), name=mechanism)
    return release


def shown(release, epsilon, *, trials, confidence=SURE):
    return (
        audit([release], [Claim(epsilon, DELTA)], trials=trials, confidence=confidence).tallies[0].lower_bound / epsilon
    )


@pytest.mark.slow
def test_a_million_trials_come_within_a_tenth_of_the_proven_epsilon():
    assert 0.9 < shown(pair(), 1.0, trials=1_000_000, confidence=0.999) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "epsilon", "options"),
    [
        ("linmix", 2.0, {"n": 100, "draws": 50, "candidates": 10}),
        ("pubmix", 1.0, {"n": 50, "draws": 30, "candidates": 6, "floor": 0.03}),
        ("linmix", 2.0, {"n": 1, "draws": 5, "candidates": 3}),
    ],
)
def test_fewer_trials_still_show_most_of_it(mechanism, epsilon, options):
    # The first shows 0.864 ± 0.016 (at half as many trials 0.798 ± 0.021, too near to the bar).
    assert 0.75 < shown(pair(mechanism, epsilon, **options), epsilon, trials=120_000) <= 1.0


@pytest.mark.parametrize("mechanism", ["linmix", "pubmix"])
def test_a_fifth_less_noise_is_convicted(mechanism):
    sound = pair(mechanism)
    weight = int(sound.claimed.mixing_weight * 0.8 * GRID) / GRID
    broken = replace(sound, running=replace(sound.claimed, mixing_weight=weight))
    assert shown(broken, 1.0, trials=40_000) > 1.0


def test_a_thinner_noise_distribution_is_convicted():
    sound = pair()
    thin = np.array([1, 1, 8, 10, 20])  # two candidates with a quarter of the mass that is accounted for
    broken = replace(sound, running=replace(sound.claimed, floor=0.0), weights=thin)
    # The statistic is still the claimed one: losses of the uniform law.
    claimed = replace(sound, weights=np.ones(5, np.int64))

    class Thinner:
        cost = sound.cost
        claimed_losses = staticmethod(claimed.claimed_losses)

        @staticmethod
        def losses(side, trials, source):
            return claimed._loss(broken._hits(side, trials, sound.claimed.draws, source))

    assert shown(Thinner, 1.0, trials=40_000) > 1.0


def test_a_unit_drawn_twice_as_often_is_convicted():
    sound = pair(n=20)

    class Twice:
        """Half as many units: each is drawn twice as often as is accounted for."""

        cost = sound.cost
        claimed_losses = staticmethod(sound.claimed_losses)
        losses = staticmethod(replace(sound, running=replace(sound.claimed, units=10)).losses)

    assert shown(Twice, 1.0, trials=40_000) > 1.0


@pytest.mark.slow
def test_gaussian_noise_is_acquitted_and_half_of_it_convicted():
    sound = GaussianHistogram.calibrate(2.0, DELTA, units=1, rounds=1)
    assert 0.6 < shown(WorstCaseVotes.of(sound), 2.0, trials=20_000) <= 1.0
    broken = replace(sound, stddev=sound.stddev / 2.0)
    assert shown(WorstCaseVotes(sound, broken), 2.0, trials=20_000) > 1.0


@pytest.mark.slow
def test_laplace_noise_is_acquitted_and_half_of_it_convicted():
    sound = LaplaceHistogram.calibrate(2.0, DELTA, units=1, rounds=1)
    assert 0.5 < shown(WorstCaseVotes.of(sound), 2.0, trials=20_000) <= 1.0
    broken = replace(sound, scale=sound.scale / 2.0)
    assert shown(WorstCaseVotes(sound, broken), 2.0, trials=20_000) > 1.0


def test_releases_are_drawn_from_the_pair_that_the_proof_names():
    sound = pair()
    assert isinstance(sound, WorstCaseDraws)
    first, second = sound._laws()
    gap, base = (1.0 - sound.claimed.mixing_weight) / 10, sound.claimed.mixing_weight * 0.2
    assert first[:2] == pytest.approx([base + gap, base])
    assert second[:2] == pytest.approx([base, base + gap])
    assert first.sum() == pytest.approx(1.0)
    assert first[2:] == pytest.approx(second[2:])


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ("--mechanism", "linmix"),
        ("--mechanism", "laplace"),
        ("--mechanism", "linmix,gaussian"),
        ("--mechanism", "linmix", "--candidates", "20,40", "--accounting", "renyi"),
    ],
    ids=" ".join,
)
def test_a_real_run_is_audited_without_its_private_table(tmp_path, options):
    private, schema, out = tmp_path / "private.csv", tmp_path / "schema.json", tmp_path / "out.csv"
    private.write_text("a,b\n" + "".join(f"{row % 10},{'xyz'[row % 3]}\n" for row in range(300)))
    columns = [{"name": "a", "type": "integer", "min": 0, "max": 9}]
    columns.append({"name": "b", "type": "category", "values": ["x", "y", "z"]})
    schema.write_text(json.dumps({"columns": columns}))
    asked = [
        "synth",
        private,
        "--schema",
        schema,
        "--epsilon",
        "2",
        "--rounds",
        "2",
        "--rows",
        "50",
        "-o",
        out,
        *options,
    ]
    assert main([str(word) for word in asked]) == 0
    private.unlink()
    found = audit_run(tmp_path / "out.run", trials=2000)
    assert found["verdict"] == "consistent"
    assert 0.0 < found["proven_delta"] <= found["delta"]
    assert all(0.0 < claim["lower_bound"] < claim["epsilon"] for claim in found["claims"])
