"""The free diagnosis: what public tables say of themselves."""

import numpy as np
import pyarrow as pa
import pytest
from experiment_tables import NARROW, SCHEMA, TINY, jobs, people, points

from evomix import privacy
from evomix.core.errors import SchemaError, SpecError
from evomix.experiment.design import design
from evomix.experiment.diagnosing import HELPS, diagnose, diagnose_public, judged
from evomix.experiment.inputs import open_inputs
from evomix.experiment.noise_choice import MixtureBudget
from evomix.experiment.planning import plan
from evomix.experiment.public_side import open_public
from evomix.experiment.spec import RunSpec

BUDGET = MixtureBudget(2000, 1.0, 1e-6, 4000, 2)
SKEWED = np.array([0.6, 0.2, *[0.2 / 98] * 98])


def test_two_like_tables_are_near_and_help():
    tables = [people(3000, seed=1), people(3000, seed=2)]
    found = diagnose_public(tables, schema=SCHEMA, n=2000, epsilon=1.0, candidates=100)
    assert found["public_rows"] == [3000, 3000]
    assert found["from"] == "tables"
    assert found["proximity"] == found["measured_proximity"] < 0.2
    assert found["corrected"] < 0.05
    assert found["sampling"] == pytest.approx(found["proximity"], rel=0.25)
    assert found["pubmix"]["worst_case_tv"] <= found["linmix"]["worst_case_tv"]
    assert (found["better"] == "pubmix") == (found["gain"] > HELPS)
    assert len(found["columns"]) == 3


def test_far_tables_are_found_out_and_the_column_is_named():
    first, second = people(900, seed=1), people(900, seed=2)
    far = second.set_column(0, "age", pa.array(np.full(900, 90)))
    found = diagnose_public([first, far], schema=SCHEMA, n=300, epsilon=1.0, candidates=300)
    assert found["columns"][0]["name"] == "age"
    assert found["proximity"] > 0.9
    assert found["too_far"]
    assert found["better"] == "linmix"
    assert any("too far" in warning for warning in found["warnings"])


def test_one_table_tells_how_it_scatters_and_says_so():
    found = diagnose_public([people(900, seed=1)], schema=SCHEMA, candidates=50)
    assert found["from"] == "folds"
    assert found["corrected"] is None
    assert found["sampling"] == pytest.approx(found["proximity"], rel=0.25)
    assert any("not how far other people are" in warning for warning in found["warnings"])


def test_few_rows_count_as_nothing_known():
    found = diagnose_public([people(9, seed=1)], schema=SCHEMA)
    assert (found["proximity"], found["measured_proximity"], found["columns"]) == (1.0, None, [])
    assert found["better"] == "linmix"


def test_mostly_sampling_is_said():
    found = diagnose_public([people(300, seed=1), people(300, seed=2)], schema=SCHEMA)
    assert any("more than half of the measured" in warning for warning in found["warnings"])


def test_gamma_is_the_one_that_a_run_takes():
    tables = [jobs(300, values=("a",)), jobs(400, values=("a", "b")), jobs(500, values=("c",))]
    spec = RunSpec(private=jobs(100), public=tables, epsilon=1.0, delta=1e-6, mechanism="pubmix")
    made = design(spec, open_inputs(spec), np.random.default_rng(0))
    found = diagnose_public(tables, n=100, epsilon=1.0, delta=1e-6)
    assert found["proximity"] == pytest.approx(made.proximity, abs=1e-12)
    assert found["candidates"] == len(made.initial)
    assert found["pubmix"]["mixing_weight"] == made.plan.mixing_weight
    assert (found["draws"], found["rounds"]) == (sum(made.plan.draws), made.plan.rounds)


def test_the_noises_are_judged_by_their_worst_case():
    found = judged(SKEWED, 0.1, BUDGET)
    shaped = privacy.design_noise(SKEWED, proximity=0.1, epsilon=1.0, delta=1e-6, n=2000, draws=4000)
    weight = privacy.mixing_weight(1.0, 1e-6, n=2000, draws=4000, floor=0.01)
    uniform = weight * privacy.worst_case_tv(np.full(100, 0.01), public=SKEWED, proximity=0.1)
    assert found["pubmix"]["worst_case_tv"] == pytest.approx(shaped.objective)
    assert found["linmix"]["worst_case_tv"] == pytest.approx(uniform, rel=1e-6)
    assert found["gain"] == pytest.approx(1 - shaped.objective / uniform, rel=1e-5)
    assert found["better"] == "pubmix"
    assert found["verdict"].startswith("worst case of raw draws: pubmix is better at γ = 0.1: at worst ")


def test_the_forecast_is_that_of_a_plan_for_a_run():
    found = judged(SKEWED, 0.1, BUDGET)
    made = plan(n=2000, epsilon=1.0, delta=1e-6, draws=4000, rounds=2, public_histogram=SKEWED, proximity=0.1)
    assert made.mechanism == "pubmix"
    assert {one.mechanism: one.estimate_tv for one in made.comparison} == found["estimate_tv"]
    assert made.recommended == found["recommended"]
    assert made.reason.startswith(found["forecast"])
    assert "forecast" not in judged(SKEWED, 0.1, None)


@pytest.mark.parametrize("budget", [None, BUDGET])
def test_nearer_public_data_never_help_less(budget):
    gains = [judged(SKEWED, gamma, budget)["gain"] for gamma in (0.0, 0.05, 0.2, 0.5, 0.8, 1.0)]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 0.5
    assert gains[-1] == 0.0


@pytest.mark.parametrize("budget", [None, BUDGET])
@pytest.mark.parametrize("shares", [[1.0], [0.5, 0.5], [1.0, 0.0], [0.25] * 4])
@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
def test_small_and_even_votes_are_judged_too(shares, gamma, budget):
    found = judged(np.array(shares), gamma, budget)
    assert 0.0 <= found["gain"] <= 1.0
    assert found["too_far"] == (found["better"] == "linmix")
    if len(set(shares)) == 1:
        assert found["better"] == "linmix"


def test_a_given_gamma_is_judged_and_the_measured_one_is_told():
    tables = [people(900, seed=1), people(900, seed=2)]
    found = diagnose_public(tables, schema=SCHEMA, candidates=40, proximity=0.9)
    assert found["proximity"] == 0.9
    assert found["measured_proximity"] < 0.3
    assert "γ = 0.9" in found["verdict"]


def test_small_domains_are_taken_whole():
    assert diagnose_public([jobs(50), jobs(80)], schema=TINY)["candidates"] == 3
    assert diagnose_public([points(50, 1, 1), points(80, 2, 2)], schema=NARROW)["candidates"] == 100


def test_the_same_seed_says_the_same():
    side = open_public([people(900, seed=1), people(900, seed=2)], SCHEMA)
    one, other = (diagnose(side, candidates=40, seed=5).told for _ in range(2))
    assert one == other
    assert diagnose(side, candidates=40, seed=6).told["proximity"] != one["proximity"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"n": 100}, "n and epsilon"),
        ({"epsilon": 1.0}, "n and epsilon"),
        ({"delta": 1e-6}, "n and epsilon"),
        ({"n": -1, "epsilon": 1.0}, "n must be"),
        ({"n": 5, "epsilon": 0.0}, "epsilon"),
        ({"candidates": 0}, "candidates"),
        ({"proximity": 1.5}, "proximity"),
        ({"seed": -1}, "seed"),
    ],
)
def test_settings_out_of_range_are_refused(settings, said):
    with pytest.raises(SpecError, match=said):
        diagnose_public([people(50, seed=1)], schema=SCHEMA, **settings)


def test_something_public_is_needed():
    with pytest.raises(SpecError, match="at least one public table"):
        diagnose_public([])
    with pytest.raises(SchemaError, match="no rows"):
        diagnose_public([people(0)], schema=SCHEMA)
