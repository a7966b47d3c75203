import numpy as np
import pytest

from evomix.core.errors import PrivacyError, SpecError
from evomix.privacy import lattice_noise
from evomix.privacy.lattice_noise import LATTICE, add_gaussian, add_laplace

BOTH = pytest.mark.parametrize(("add", "name"), [(add_gaussian, "stddev"), (add_laplace, "scale")])


@BOTH
def test_votes_of_another_type_or_shape_are_refused_without_their_values(add, name):
    for votes in (np.array([4711.0]), np.array([[4711]]), np.array([4711], dtype=np.int32)):
        with pytest.raises(SpecError, match=r"int64 \(d,\)") as refusal:
            add(votes, **{name: 1.0})
        assert "4711" not in str(refusal.value)


@BOTH
@pytest.mark.parametrize("value", [0.0, -1.0, 1e-7, 1e13, float("nan"), float("inf")])
def test_noise_out_of_range_is_refused_by_name(add, name, value):
    with pytest.raises(SpecError, match=f"{name}="):
        add(np.zeros(1, dtype=np.int64), **{name: value})


@BOTH
def test_no_candidates_and_saturation(add, name):
    assert add(np.zeros(0, dtype=np.int64), **{name: 1.0}).shape == (0,)
    extremes = np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min])
    for _ in range(20):
        noisy = add(extremes, **{name: 10.0})
        assert noisy[0] > 0 > noisy[1]


@BOTH
def test_the_input_is_left_alone_and_two_calls_differ(add, name):
    votes = np.full(50, 7 * LATTICE)
    one, two = add(votes, **{name: 2.0}), add(votes, **{name: 2.0})
    assert np.all(votes == 7 * LATTICE)
    assert np.any(one != two)
    assert one.dtype == np.int64


@pytest.mark.parametrize("build", [lattice_noise._gaussian, lattice_noise._laplace])
def test_the_accounted_loss_is_compared_with_opendps_own(build, monkeypatch):
    agreed = []
    monkeypatch.setattr(
        lattice_noise, "_agree", lambda of, distance, *, accounted: agreed.append(of(distance) / accounted)
    )
    build.__wrapped__(3.7)
    assert agreed == pytest.approx([1.0, 1.0], rel=1e-12)  # replace-one and add-remove


def test_a_sampler_with_half_the_noise_is_refused():
    measurement = lattice_noise._gaussian(1.5)
    with pytest.raises(PrivacyError, match="OpenDP to prove"):
        lattice_noise._agree(measurement.map, float(LATTICE), accounted=1 / (2 * 3.0**2))
    with pytest.raises(PrivacyError):
        lattice_noise._agree(lambda _: float("nan"), 1.0, accounted=1.0)
