"""What is proved of a record: by the account that it names (docs/proofs/composition.md), with every fault convicted."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import pytest

from evomix.core.errors import InputFileError
from evomix.experiment.auditing import audit_run
from evomix.experiment.recorded import Choices, Recorded
from evomix.experiment.recorded_proof import proof_of_record
from evomix.privacy.calibration import GRID, mixing_weight
from evomix.privacy.composition import calibrate_rounds, composed_delta, composed_epsilon
from evomix.privacy.gaussian_accounting import gaussian_stddev
from evomix.privacy.mechanisms.allowance import Allowance, equal_shares
from evomix.privacy.renyi import renyi_divergence
from evomix.privacy.renyi_filter import RenyiFilter
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, RoundShape

EPSILON, DELTA, UNITS = 2.0, 1e-6, 300
SHAPES = (RoundShape("mixing", draws=300, floor=0.05), RoundShape("gaussian"), RoundShape("laplace"))
ORDER = RenyiFilter(EPSILON, DELTA, units=UNITS, shapes=SHAPES).order
SHARES = equal_shares(3)


def chosen():
    """Return the rounds that a curator's allowance lets a run choose."""
    allowance = Allowance(EPSILON, DELTA, units=UNITS, draws=(300, 0, 0), shares=SHARES, order=ORDER)
    mixture = allowance.choose(0, "linmix", candidates=20)
    gaussian, laplace = (
        allowance.choose(index, name, candidates=20) for index, name in ((1, "gaussian"), (2, "laplace"))
    )
    return (
        MixingRound(UNITS, mixture.mixing_weight, 300, mixture.floor),
        GaussianRound(gaussian.stddev),
        LaplaceRound(laplace.scale),
    )


ROUNDS = chosen()
CHOICES = Choices(ORDER, SHARES, (0, 1, 2), SHARES, (0, 1, 2))


def record(path, rounds=ROUNDS, choices=CHOICES, **changes):
    fields = {
        "epsilon": EPSILON,
        "delta": DELTA,
        "units": UNITS,
        "mechanism": "linmix,gaussian,laplace",
        "accountant": "pld" if choices is None else "renyi",
        "planned": 3,
        "contradictions": (),
    }
    return Recorded(path=path, rounds=rounds, choices=choices, **fields | changes)


def weaker(round_, part):
    """Return a round with ``part`` of its noise."""
    if isinstance(round_, MixingRound):
        return replace(round_, mixing_weight=int(round_.mixing_weight * part * GRID) / GRID)
    if isinstance(round_, GaussianRound):
        return GaussianRound(round_.stddev * part)
    return LaplaceRound(round_.scale * part)


def test_a_sound_filter_is_borne_out_and_by_nothing_tighter(tmp_path):
    found = proof_of_record(record(tmp_path))
    assert found.faults == ()
    assert found.delta == pytest.approx(DELTA, rel=1e-9)
    assert found.delta <= DELTA
    # The realised parameters, had they been fixed in advance, would have a much smaller δ. They were not.
    assert composed_delta(EPSILON, ROUNDS) < 0.5 * DELTA


def test_the_curve_of_a_filter_is_that_of_its_one_order_and_its_whole_budget(tmp_path):
    found = proof_of_record(record(tmp_path))
    budget, tilt = RenyiFilter(EPSILON, DELTA, units=UNITS, order=ORDER).budget, ORDER - 1.0
    for delta in (1e-2, 1e-4, DELTA):
        epsilon = found.epsilon_at(delta)
        factor = (1.0 - 1.0 / ORDER) ** tilt / ORDER
        assert factor * math.exp(tilt * (budget - epsilon)) == pytest.approx(delta, rel=1e-9)
        assert epsilon > composed_epsilon(delta, ROUNDS)
    assert found.epsilon_at(DELTA) == pytest.approx(EPSILON, rel=1e-12)


@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_hundredth_less_noise_in_one_round_is_convicted(tmp_path, index):
    rounds = [*ROUNDS]
    rounds[index] = weaker(ROUNDS[index], 0.99)
    assert composed_delta(EPSILON, rounds) < DELTA  # the realised parameters would acquit it
    found = proof_of_record(record(tmp_path, rounds=tuple(rounds)))
    assert f"round {index} has less noise than its share" in found.faults[0]
    assert (found.delta, found.epsilon_at) == (1.0, None)


def test_last_digits_of_a_cost_accuse_nobody(tmp_path):
    budget = RenyiFilter(EPSILON, DELTA, units=UNITS, order=ORDER).budget
    assert renyi_divergence(ROUNDS[1], ORDER) <= SHARES[1] * budget
    nearly = (ROUNDS[0], GaussianRound(ROUNDS[1].stddev * (1.0 - 1e-13)), ROUNDS[2])
    assert proof_of_record(record(tmp_path, rounds=nearly)).faults == ()
    further = (ROUNDS[0], GaussianRound(ROUNDS[1].stddev * (1.0 - 1e-11)), ROUNDS[2])
    assert proof_of_record(record(tmp_path, rounds=further)).faults != ()


def test_noise_moved_from_one_round_to_another_is_convicted_though_the_sum_fits(tmp_path):
    strong = GaussianRound(ROUNDS[1].stddev * 10.0)
    rounds = (weaker(ROUNDS[0], 0.9), strong, ROUNDS[2])
    budget = RenyiFilter(EPSILON, DELTA, units=UNITS, order=ORDER).budget
    assert sum(Fraction(renyi_divergence(each, ORDER)) for each in rounds) < budget
    assert "round 0 has less noise" in proof_of_record(record(tmp_path, rounds=rounds)).faults[0]


def test_a_lost_round_counts_with_its_whole_share(tmp_path):
    lost = replace(CHOICES, released=(0, 2), released_shares=SHARES[:2])
    assert proof_of_record(record(tmp_path, rounds=(ROUNDS[0], ROUNDS[2]), choices=lost)).faults == ()
    unlisted = replace(lost, shares=None)
    assert proof_of_record(record(tmp_path, rounds=(ROUNDS[0], ROUNDS[2]), choices=unlisted)).faults == ()
    # Without what was lost the two would fit with twice as much each; with it they do not.
    greedy = replace(lost, shares=(0.5, SHARES[1], 0.5), released_shares=(0.5, 0.5))
    faults = proof_of_record(record(tmp_path, rounds=(ROUNDS[0], ROUNDS[2]), choices=greedy)).faults
    assert "shares of the rounds exceed" in faults[0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"released": (0, 1, 1)}, "round 1 is recorded twice"),
        ({"begun": (0, 1, 2, 2)}, "round 2 is recorded twice"),
        ({"begun": (0, 1)}, "round 2 was released without having been begun"),
        ({"shares": (0.2, 0.4, 0.4)}, "round 0 states share="),
        ({"shares": None, "released_shares": (0.5, 0.5, 0.5)}, "exceed the whole budget"),
        ({"order": 1.0 + 1e-8}, "order"),
        ({"order": 0.5}, "order"),
        ({"order": 1e300}, "order"),
        ({"order": ORDER / 2}, "round 0 has less noise"),
    ],
)
def test_what_no_filter_would_have_let_through_is_convicted(tmp_path, changes, said):
    found = proof_of_record(record(tmp_path, choices=replace(CHOICES, **changes)))
    assert any(said in fault for fault in found.faults)
    assert (found.delta, found.epsilon_at) == (1.0, None)


def test_a_dropped_round_is_convicted(tmp_path):
    dropped = replace(CHOICES, released=(0, 2), released_shares=SHARES[:2], begun=(0, 2))
    found = proof_of_record(record(tmp_path, rounds=(ROUNDS[0], ROUNDS[2]), choices=dropped))
    assert "round 1 is missing" in found.faults[0]


def test_an_account_must_cover_what_was_released(tmp_path):
    stddev = gaussian_stddev(EPSILON, DELTA, rounds=2)
    for accountant, rounds, said in (
        ("gaussian", (GaussianRound(stddev), LaplaceRound(1e6)), "does not cover every release"),
        ("laplace", (LaplaceRound(50.0), LaplaceRound(60.0)), "one scale only"),
        ("draws", (ROUNDS[0], replace(ROUNDS[0], mixing_weight=0.75)), "one mixing_weight only"),
        ("draws", (GaussianRound(100.0),), "does not cover every release"),
    ):
        found = proof_of_record(record(tmp_path, rounds=rounds, choices=None, accountant=accountant))
        assert said in found.faults[0]
        assert found.delta == 1.0
    sound = record(tmp_path, rounds=(GaussianRound(stddev),) * 2, choices=None, accountant="gaussian")
    assert proof_of_record(sound).delta <= DELTA
    assert proof_of_record(sound).faults == ()


def test_gaussian_rounds_of_any_noise_are_added_up_exactly(tmp_path):
    whole = gaussian_stddev(EPSILON, DELTA)
    rounds = tuple(GaussianRound(whole / math.sqrt(share)) for share in (0.1, 0.2, 0.7))
    sound = proof_of_record(record(tmp_path, rounds=rounds, choices=None, accountant="gaussian"))
    assert sound.faults == ()
    assert sound.delta == pytest.approx(DELTA, rel=1e-9)
    assert sound.epsilon_at(DELTA) == pytest.approx(EPSILON, rel=1e-6)
    less = (*rounds[:2], GaussianRound(rounds[2].stddev * 0.99))
    convicted = proof_of_record(record(tmp_path, rounds=less, choices=None, accountant="gaussian"))
    assert convicted.delta > DELTA * 1.01


def test_the_account_that_is_named_must_meet_delta_itself(tmp_path):
    """Two accounts of the same rounds differ; the laxer word must not be carried by the tighter account."""
    weight = mixing_weight(EPSILON, DELTA, n=UNITS, draws=300, floor=0.05)
    one = MixingRound(UNITS, weight, 300, 0.05)
    assert proof_of_record(record(tmp_path, rounds=(one,), choices=None, accountant="draws")).delta <= DELTA
    rounds = calibrate_rounds(EPSILON, DELTA, SHAPES, units=UNITS)
    assert proof_of_record(record(tmp_path, rounds=rounds, choices=None)).delta <= DELTA
    lost = tuple(weaker(each, 0.99) for each in rounds)
    assert proof_of_record(record(tmp_path, rounds=lost, choices=None)).delta > 1.01 * DELTA


def test_more_draws_than_are_accounted_for_are_refused(tmp_path):
    rounds = (MixingRound(UNITS, 0.5, 10**7, 0.05),) * 2
    with pytest.raises(InputFileError, match="no run could make"):
        proof_of_record(record(tmp_path, rounds=rounds, choices=None, accountant="draws"))


def test_a_contradiction_is_a_fault(tmp_path):
    assert proof_of_record(record(tmp_path, contradictions=("rounds is 3",))).faults == ("rounds is 3",)


def privacy_json(rounds):
    mixing, gaussian, laplace = rounds
    releases = [
        {"mechanism": "linmix", "draws": 300, "mixing_weight": mixing.mixing_weight, "floor": mixing.floor},
        {"mechanism": "gaussian", "stddev": gaussian.stddev},
        {"mechanism": "laplace", "scale": laplace.scale},
    ]
    return {
        "private": True,
        "epsilon": EPSILON,
        "delta": DELTA,
        "adjacency": "replace-one",
        "n": UNITS,
        "mechanism": "linmix,gaussian,laplace",
        "draws": 300,
        "draws_per_round": [300, 0, 0],
        "rounds": 3,
        "accountant": "renyi",
        "order": ORDER,
        "begun_rounds": [0, 1, 2],
        "releases": [
            each | {"round": index, "share": share}
            for index, (each, share) in enumerate(zip(releases, SHARES, strict=True))
        ],
    }


def test_an_audit_says_what_the_record_does_not_bear_out(tmp_path):
    def audited(content):
        (tmp_path / "privacy.json").write_text(json.dumps(content))
        return audit_run(tmp_path, trials=50)

    sound = audited(privacy_json(ROUNDS))
    assert (sound["verdict"], sound["accounted"], sound["faults"]) == ("consistent", True, [])
    assert len(sound["claims"]) == 2
    broken = audited(privacy_json((weaker(ROUNDS[0], 0.99), *ROUNDS[1:])))
    assert (broken["verdict"], broken["accounted"], broken["proven_delta"]) == ("VIOLATION", False, 1.0)
    assert "round 0 has less noise" in broken["faults"][0]
    assert [claim["stated"] for claim in broken["claims"]] == [True]
    contradicted = audited(privacy_json(ROUNDS) | {"draws": 299})
    assert contradicted["verdict"] == "VIOLATION"
    assert "draws is 299" in contradicted["faults"][0]
