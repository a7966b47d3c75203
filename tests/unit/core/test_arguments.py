"""Numbers of other kinds than Python's own count as exactly what they hold, everywhere."""

from fractions import Fraction

import numpy as np
import pytest

from evomix import privacy
from evomix.core.arguments import number, real_array, shown, whole
from evomix.core.errors import SpecError

PLAIN = {
    "delta": lambda real, count: privacy.delta(
        real(0.5), mixing_weight=real(0.25), n=count(100), draws=count(50), floor=real(0.125)
    ),
    "mixing_weight": lambda real, count: privacy.mixing_weight(
        real(0.5), real(2**-20), n=count(100), draws=count(50), floor=real(0.0125)
    ),
    "max_draws": lambda real, count: privacy.max_draws(
        real(0.5), real(2**-10), n=count(100), mixing_weight=real(0.7), floor=real(0.1)
    ),
    "bounded_delta": lambda real, count: privacy.bounded_delta(
        real(0.5), mixing_weight=real(0.3), sensitivity=real(0.01), draws=count(50), floor=real(0.1), spread=real(0.02)
    ),
    "convert": lambda real, _: privacy.convert_guarantee(
        real(1.0), real(0.01), source="add-remove", target="replace-one"
    ),
    "gaussian_delta": lambda real, _: privacy.gaussian_delta(real(0.7), stddev=real(5.3)),
    "gaussian_epsilon": lambda real, _: privacy.gaussian_epsilon(real(1e-6), stddev=real(5.3)),
    "gaussian_stddev": lambda real, _: privacy.gaussian_stddev(real(0.7), real(1e-6)),
    "laplace_delta": lambda real, _: privacy.laplace_delta(real(0.7), scale=real(5.3)),
    "laplace_epsilon": lambda real, _: privacy.laplace_epsilon(real(1e-6), scale=real(5.3)),
    "laplace_scale": lambda real, _: privacy.laplace_scale(real(0.7), real(1e-6)),
    "composed": lambda real, count: privacy.composed_delta(
        real(0.7),
        [
            privacy.MixingRound(count(100), real(0.3), count(100), real(0.1)),
            privacy.MixingRound(count(100), real(0.3), count(100), real(0.1)),
            privacy.GaussianRound(real(5.3)),
            privacy.LaplaceRound(real(7.3)),
        ],
    ),
    "renyi": lambda real, count: privacy.renyi_divergence(
        privacy.MixingRound(count(100), real(0.9), count(50), real(1e-3)), real(3.1)
    ),
    "filter": lambda real, count: privacy.RenyiFilter(real(1.0), real(1e-6), units=count(100)).affordable(
        privacy.RoundShape("mixing", draws=count(50), floor=real(0.01)), real(0.3)
    ),
}


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", PLAIN)
def test_small_numpy_numbers_give_the_figure_of_the_doubles_they_are(name, kind):
    call = PLAIN[name]
    assert call(kind, np.int8) == call(lambda value: float(kind(value)), int)


def test_what_is_no_number_is_refused():
    for wrong in (True, "1", None, 1j, np.array([1.0])):
        with pytest.raises(SpecError, match="epsilon"):
            number("epsilon", wrong)
    with pytest.raises(SpecError, match="10\\^308"):
        number("epsilon", 10**400)
    assert number("epsilon", Fraction(1, 4)) == 0.25


def test_whole_numbers():
    assert type(whole("draws", np.int16(5), least=0, most=10)) is int
    for wrong in (True, 5.0, 11, -1, "5", None):
        with pytest.raises(SpecError, match="draws"):
            whole("draws", wrong, least=0, most=10)
    assert whole("draws", 10**400, least=1) == 10**400
    for wrong in (0, 1.5, "1"):
        with pytest.raises(SpecError, match="draws must be a whole number of at least 1"):
            whole("draws", wrong, least=1)


def test_numbers_too_long_for_python_to_write_out_are_refused_all_the_same():
    with pytest.raises(SpecError, match="thousands of digits"):
        whole("draws", 10**5000, least=0, most=10)
    assert shown([10**5000]) != shown("x") == "'x'"


def test_arrays_of_real_numbers_keep_their_type():
    for kind in (np.int8, np.uint64, np.float16, np.float32, np.float64):
        given = np.ones((2, 2), kind)
        assert real_array("points", given) is given
    assert real_array("points", [[1, 2.5]]).tolist() == [[1.0, 2.5]]
    assert real_array("points", [True, False], truths=True).sum() == 1
    for wrong in ([True], [1j], ["1"], [None], [10**400], [[1], [1, 2]], np.array([1.0], object), None, "x", {}):
        with pytest.raises(SpecError, match="points"):
            real_array("points", wrong)


@pytest.mark.parametrize("wrong", [None, 5, "x", [None], [1.0]])
def test_rounds_and_shapes_of_another_kind_are_refused(wrong):
    with pytest.raises(SpecError, match="rounds"):
        privacy.composed_delta(1.0, wrong)
    with pytest.raises(SpecError, match="shapes"):
        privacy.calibrate_rounds(1.0, 1e-6, wrong, units=10)
    with pytest.raises(SpecError, match="shapes"):
        privacy.RenyiFilter(1.0, 1e-6, units=10, shapes=wrong)
