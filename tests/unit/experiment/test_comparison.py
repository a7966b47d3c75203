from dataclasses import replace

import numpy as np
import pytest

from evomix import privacy
from evomix.experiment.comparison import PREFERENCE, TIE, Compared, _finding, compare, recommend
from evomix.experiment.forecast import VotesRelease, forecast
from evomix.experiment.noise_choice import MixtureBudget, designed_choice, uniform_choice
from evomix.experiment.stand_ins import StandIn, public_votes

SMALL = MixtureBudget(1500, 1.0, 1e-6, 1500, 1)
CANDIDATES = 1000


def _alike(distance, k, seed=0):
    """Return k histograms, each a share ``distance`` of its own and the rest in common."""
    rng = np.random.default_rng(seed)
    common = rng.dirichlet(np.full(CANDIDATES, 0.05))
    return [(1 - distance) * common + distance * rng.dirichlet(np.full(CANDIDATES, 0.05)) for _ in range(k)]


def _truth(budget, public, votes):
    """Return what each mechanism's draws miss when ``votes`` are the private ones."""
    real = [StandIn(votes, public.pooled)]
    stddev = privacy.gaussian_stddev(budget.epsilon, budget.delta, rounds=1, adjacency="replace-one")
    return {
        "linmix": forecast(uniform_choice(CANDIDATES, budget, public).release(budget), real, repeats=20, seed=9),
        "gaussian": forecast(VotesRelease(stddev, budget.draws, budget.n), real, repeats=20, seed=9),
        "pubmix": forecast(designed_choice(budget, public).release(budget), real, repeats=20, seed=9),
    }


@pytest.mark.parametrize(
    ("distance", "budget", "best"),
    [
        (0.1, SMALL, "pubmix"),
        (0.95, MixtureBudget(1500, 4.0, 1e-6, 150, 1), "linmix"),
        (0.5, MixtureBudget(10**6, 1.0, 1e-8, 10**6, 1), "gaussian"),
    ],
)
def test_the_mechanism_that_is_recommended_is_then_the_best(distance, budget, best):
    *rows, private = _alike(distance, 5)
    public = public_votes(rows, "auto")
    verdict = compare(budget, public, objective="draws")
    assert verdict.recommended == best
    missed = {name: one.draws_tv for name, one in _truth(budget, public, private).items()}
    assert missed[best] <= (1.0 + TIE) * min(missed.values())
    for one in verdict.compared:
        assert one.draws_tv == pytest.approx(missed[one.mechanism], abs=0.05)


def test_public_data_that_are_too_far_are_called_so_and_those_that_are_near_are_not():
    far = compare(MixtureBudget(20_000, 1.0, 1e-6, 20_000, 1), public_votes(_alike(0.98, 2), 0.02), objective="draws")
    # γ = 0.02 is what the user says; the histograms themselves tell otherwise.
    assert far.recommended != "pubmix"
    assert far.reason.startswith("public data are too far (γ = 0.02) to help the draws")
    near = compare(SMALL, public_votes(_alike(0.1, 4), "auto"), objective="draws")
    assert "too far" not in near.reason
    assert near.reason.startswith("if private votes lie about γ = ")
    assert "the draws of a round of pubmix should miss" in near.reason


def test_figures_are_those_of_the_accounting():
    public = public_votes(_alike(0.3, 2), "auto")
    linmix, gaussian, pubmix = compare(MixtureBudget(1500, 1.0, 1e-6, 1500, 3), public).compared
    assert gaussian.noise_scale == privacy.gaussian_stddev(1.0, 1e-6, rounds=3, adjacency="replace-one")
    assert gaussian.worst_case_tv is gaussian.mixing_weight is gaussian.floor is None
    for one in (linmix, pubmix):
        assert one.mixing_weight == privacy.mixing_weight(1.0, 1e-6, n=1500, draws=1500, floor=one.floor)
    uniform = np.full(CANDIDATES, 1 / CANDIDATES)
    ball = privacy.worst_case_tv(uniform, public=public.pooled, proximity=public.proximity)
    assert linmix.worst_case_tv == pytest.approx(linmix.mixing_weight * ball)
    assert pubmix.worst_case_tv <= linmix.worst_case_tv


def test_for_the_estimate_the_reason_speaks_of_the_estimate():
    public = public_votes(_alike(0.1, 3), "auto")
    verdict = compare(SMALL, public, objective="estimate")
    missed = {one.mechanism: one.estimate_tv for one in verdict.compared}
    assert missed[verdict.recommended] <= (1.0 + TIE) * min(missed.values())
    assert f"from public ones, the denoised estimate of {verdict.recommended} should miss" in verdict.reason
    assert compare(SMALL, public) == verdict
    assert "(forecast for one release with the whole budget, not for the table)" in verdict.reason
    assert "one of 3 alike releases" in compare(replace(SMALL, rounds=3), public).reason
    assert "(assumed)" not in verdict.reason
    assert "γ = 0.5 (assumed)" in compare(SMALL, public_votes(_alike(0.1, 1), "auto")).reason


def _figure(mechanism, missed):
    return Compared(mechanism, None, None, None, None, missed, 1.0 - missed)


def test_equals_go_to_the_one_that_leans_least_on_public_data():
    assert PREFERENCE == ("linmix", "gaussian", "pubmix")
    figures = [_figure("pubmix", 0.100), _figure("linmix", 0.101), _figure("gaussian", 0.2)]
    assert recommend(figures, "draws") == "linmix"
    assert recommend(figures, "estimate") == "gaussian"
    assert recommend([_figure("pubmix", 0.1), _figure("linmix", 0.11)], "draws") == "pubmix"


def test_near_ties_are_called_ties():
    figures = [_figure("linmix", 0.101), _figure("gaussian", 0.2), _figure("pubmix", 0.100)]
    public = public_votes([0.5, 0.5], 0.25)
    told = _finding(figures, "draws", SMALL, public)
    assert told.startswith(
        "if private votes lie about γ = 0.25 from public ones, the draws of a round of linmix and pub"
    )
    assert "miss 10.1 % and 10 % of the votes: a tie, and linmix leans least on public data; gaussian 20 % (" in told
    assert "tie" not in _finding([*figures[:2], _figure("pubmix", 0.09)], "draws", SMALL, public)


def test_of_several_histograms_the_sentence_tells_the_distance_that_the_forecast_rests_on():
    rows = _alike(0.5, 3)
    told = compare(SMALL, public_votes(rows, 0.1)).reason
    assert told.startswith(f"if private votes lie about γ = {privacy.proximity(rows):.2g} from public ones")
