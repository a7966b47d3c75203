import numpy as np
import pytest

from evomix import privacy
from evomix.experiment.noise_choice import MixtureBudget
from evomix.experiment.stand_ins import public_votes
from evomix.experiment.trade_off import BEYOND, trade_off

BUDGET = MixtureBudget(50_000, 1.0, 1e-7, 20_000, 4)
PUBLIC = public_votes(np.random.default_rng(0).dirichlet(np.full(400, 0.2)), 0.3)


@pytest.mark.parametrize(("public", "candidates"), [(None, 500), (PUBLIC, 400)])
def test_every_point_is_that_of_the_accounting(public, candidates):
    curve = trade_off(BUDGET, candidates, public=public)
    for one in curve:
        assert one.mixing_weight == privacy.mixing_weight(1.0, 1e-7, n=50_000, draws=one.draws, floor=one.floor)
        assert one.floor <= 1.0 / one.candidates
        assert one.effective_draws == pytest.approx(one.draws * (1 - one.mixing_weight) ** 2)
        assert 0.0 <= one.worst_case_tv <= one.mixing_weight
        assert 0.0 <= one.estimate_tv <= 1.0
    assert len({(one.draws, one.candidates) for one in curve}) == len(curve)
    assert any((one.draws, one.candidates) == (20_000, candidates) for one in curve)


def test_more_draws_and_more_candidates_need_more_noise():
    weight = {(one.draws, one.candidates): one.mixing_weight for one in trade_off(BUDGET, 500, public=None)}
    draws, sizes = (sorted({key[place] for key in weight}) for place in (0, 1))
    assert draws == [200, 600, 2000, 6000, 20_000, 60_000]
    assert sizes[-1] == 10_000 <= BEYOND
    for size in sizes:
        row = [weight[count, size] for count in draws]
        assert row == sorted(row)
    for count in draws:
        column = [weight[count, size] for size in sizes]
        assert column == sorted(column)


def test_public_votes_lower_the_worst_case_at_every_resolution():
    blind = {(one.draws, one.candidates): one.worst_case_tv for one in trade_off(BUDGET, 400, public=None)}
    curve = trade_off(BUDGET, 400, public=PUBLIC)
    assert max(one.candidates for one in curve) == 400
    assert all(one.worst_case_tv <= blind[one.draws, one.candidates] * (1 + 1e-9) for one in curve)
    assert any(one.worst_case_tv < 0.9 * blind[one.draws, one.candidates] for one in curve)


def test_the_curve_for_the_estimate_has_estimates_no_worse():
    worst, best = (trade_off(BUDGET, 400, public=PUBLIC, objective=name) for name in ("draws", "estimate"))
    assert np.mean([one.estimate_tv for one in best]) < np.mean([one.estimate_tv for one in worst])


@pytest.mark.parametrize("most", [1, 2, 30, 31])
def test_no_more_candidates_than_there_are_records(most):
    curve = trade_off(MixtureBudget(10, 1.0, 1e-6, 1, 1), most, public=None, most=most)
    assert max(one.candidates for one in curve) == most
    assert min(one.draws for one in curve) == 1


def test_public_votes_without_noise_of_their_shape_only_judge():
    curve = trade_off(BUDGET, 400, public=PUBLIC, shaped=False)
    blind = {(one.draws, one.candidates): one for one in trade_off(BUDGET, 400, public=None)}
    for one in curve:
        other = blind[one.draws, one.candidates]
        assert (one.mixing_weight, one.floor) == (other.mixing_weight, other.floor)
        assert one.worst_case_tv <= other.worst_case_tv


def test_near_public_votes_that_are_everywhere_serve_as_they_are():
    shares = np.random.default_rng(0).dirichlet(np.full(300, 50.0))
    assert 0.4 < shares.min() * 300 < 0.7  # between two of the rough parts
    public = public_votes(shares, 0.0)
    for one in trade_off(BUDGET, 300, public=public):
        if one.candidates == 300:
            assert one.floor == pytest.approx(shares.min())
            assert one.worst_case_tv < 1e-9
