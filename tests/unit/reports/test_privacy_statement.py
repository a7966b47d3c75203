import math
from decimal import Decimal

import pytest
from report_parts import PRIVACY
from scipy.stats import norm

from evomix.core.errors import SpecError
from evomix.reports import privacy_statement as module
from evomix.reports.privacy_statement import LARGE_EPSILON, privacy_statement
from evomix.reports.wording import bound


def words(**changes):
    statement = privacy_statement(PRIVACY | changes)
    return statement, " ".join((*statement.guarantee, *statement.spent, *(s for _, s in statement.meaning)))


def test_the_guarantee_names_unit_relation_size_and_factor():
    statement, text = words()
    assert statement.banner is None
    assert statement.headline == "Differentially private with (ε = 1, δ = 10⁻⁶), under the replace-one relation"
    assert "The protected unit is one row." in text
    assert "the number of such units, n = 32,561, is treated as public" in text
    assert "at most a factor 2.72" in text
    assert "at most 13.6 % of the cases" in text
    assert "at most 1 in 1,000,000." in text


def test_other_relations_and_units():
    _, text = words(adjacency="add-remove", unit_column="person")
    assert "one of them has the rows of one value of “person” more than the other." in text
    assert "treated as public" not in text
    _, text = words(unit_column="person")
    assert "they differ in the rows of one value of “person”, replaced by any others; the number" in text
    _, text = words(unit="all rows with one value of 'person'")
    assert "The protected unit is all rows with one value of 'person'." in text


@pytest.mark.parametrize(
    ("epsilon", "delta", "power"), [(0.0, 0.0, 0.05), (1.0, 0.0, 0.05 * math.e), (3.0, 0.0, 1 - 0.95 * math.exp(-3))]
)
def test_the_power_of_a_test_is_the_bound_of_both_directions(epsilon, delta, power):
    assert float(module._power(epsilon, delta)) == pytest.approx(power)
    assert module._power(epsilon, 1.0) == 1.0
    assert module._power(5000.0, 0.0) == 1.0


def test_the_power_is_never_below_that_of_a_real_mechanism():
    sigma, distance = 1.0, 1.0  # the Gaussian mechanism: the best test has power Φ(Φ⁻¹(α) + distance/σ)
    for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
        a, b = distance / (2 * sigma) - epsilon * sigma / distance, -distance / (2 * sigma) - epsilon * sigma / distance
        delta = norm.cdf(a) - math.exp(epsilon) * norm.cdf(b)
        assert norm.cdf(norm.ppf(0.05) + distance / sigma) <= float(module._power(epsilon, delta)) + 1e-12


@pytest.mark.parametrize("changes", [{"private": False}, {"epsilon": math.inf}])
def test_what_is_not_private_says_so_and_nothing_else(changes):
    statement, text = words(**changes)
    assert statement.banner.startswith("NOT PRIVATE.")
    assert statement.headline == "No privacy guarantee"
    assert "Nobody is protected" in text
    assert "factor" not in text
    assert "ledger" not in text


def test_large_values_are_warned_of():
    assert words(public_data=False)[0].warnings == ()
    assert "public data are not protected" in words()[0].warnings[0]
    large = words(epsilon=LARGE_EPSILON + 0.5, public_data=False)[0].warnings
    assert "ε = 10.5 is large" in large[0]
    assert words(epsilon=LARGE_EPSILON, public_data=False)[0].warnings == ()
    assert "exceeds 1/n" in words(delta=1e-3, public_data=False)[0].warnings[0]
    assert "10^303.1" in words(epsilon=697.7)[0].meaning[0][1]


def test_composition_in_words_for_each_mechanism():
    assert "one exact composition" in words()[1]
    assert "Each draw is noise with probability 0.2134." in words()[1]
    _, text = words(mechanism="gaussian", noise_multiplier=7.25, draws=None, mixing_weight=None)
    assert "The noise per round is 7.25 times what one unit can change." in text
    assert "draws in all" not in text
    assert "Mechanism: discrete Laplace" in words(mechanism="laplace")[1]


def test_charges_are_added_up():
    charges = [{"epsilon": 0.25, "delta": 0.0}, {"epsilon": 0.5, "delta": 0.0}]
    assert "data set “adult”: 2 entries, ε = 0.75, δ = 0 in all" in words(charges=charges)[1]
    assert "ledger" not in words(charges=[])[1]


def test_charges_are_added_as_the_decimals_that_were_typed_and_never_written_smaller():
    ten = [{"epsilon": 0.1, "delta": 1e-7}] * 10  # as floats, they are 0.9999999999999999
    assert "10 entries, ε = 1, δ = 10⁻⁶ in all" in words(charges=ten)[1]
    assert "ε = 0.0001235, δ = 0 in all" in words(charges=[{"epsilon": 0.00012341}])[1]


@pytest.mark.parametrize("delta", [1e-310, 5e-324, 1.0 - 2.0**-53])
@pytest.mark.parametrize("epsilon", [1e-6, 4e-12, 700.0, 1e308])
def test_no_budget_is_too_small_or_too_large_for_words(epsilon, delta):
    statement, text = words(epsilon=epsilon, delta=delta)
    assert "at most 1 in " in text
    assert f"ε = {bound(epsilon)}" in statement.headline
    assert "at most a factor 1.01" in text or epsilon > 1.0


def test_the_power_is_rounded_up_where_a_float_would_lose_it():
    assert "at most 5.1 % of the cases" in words(epsilon=4e-12, delta=5e-324)[1]
    assert module._power(1e-12, 0.0) > module.FALSE_ALARM
    assert module._power(40.0, 5e-324) == 1 or module._power(40.0, 5e-324) > Decimal(1) - Decimal("1e-16")


def test_delta_zero_has_no_exception():
    assert words(delta=0.0)[0].meaning[1] == ("δ = 0", "The bound holds without exception.")


def test_measured_risk_is_kept_apart_from_the_bound():
    assert "measured risk" in words()[0].risk


@pytest.mark.parametrize("key", ["epsilon", "delta", "private"])
def test_a_record_with_a_gap_is_refused(key):
    with pytest.raises(SpecError, match=key):
        privacy_statement({k: v for k, v in PRIVACY.items() if k != key})


@pytest.mark.parametrize("value", [math.nan, -1.0, "1", True, None])
def test_a_number_that_is_none_is_refused(value):
    with pytest.raises(SpecError, match="number epsilon"):
        privacy_statement(PRIVACY | {"epsilon": value})
