import numpy as np
import pytest

from evomix.diagnosis.uncertainty import interval, medians, quantile, share_interval


def test_infinite_values_stay_in_their_place():
    values = np.array([np.inf, 1.0, np.nan, np.inf, 2.0, 3.0])
    assert quantile(values, 0.5) == 3.0
    assert quantile(values, 0.9) == np.inf
    assert np.isnan(quantile(np.array([np.nan]), 0.5))
    assert interval(np.full(4, np.inf), medians, np.random.default_rng(0)) == (np.inf, np.inf)
    assert all(np.isnan(interval(np.array([np.nan]), medians, np.random.default_rng(0))))


def test_an_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        low, high = interval(rng.standard_normal(80), lambda some: some.mean(axis=1), rng)
        covered += low <= 0.0 <= high
    assert 0.88 < covered / 300 < 0.985


@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
def test_an_interval_of_a_share_covers_as_often_as_it_says(share):
    counts = np.random.default_rng(0).binomial(200, share, 4000)
    covered = sum(low <= share <= high for low, high in (share_interval(int(count), 200) for count in counts))
    assert 0.92 < covered / 4000 < 0.98


def test_a_share_of_none_or_all_is_not_certain():
    assert share_interval(0, 200) == (0.0, pytest.approx(0.01885, abs=1e-5))
    assert share_interval(200, 200) == (pytest.approx(0.98115, abs=1e-5), 1.0)
    assert share_interval(0, 0) == (0.0, 1.0)
