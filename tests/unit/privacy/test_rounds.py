"""Descriptions of rounds refuse what no round can be."""

import math

import numpy as np
import pytest

from evomix.core.errors import SpecError
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, RoundShape, check_rounds_given


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"units": 0}, "units=0"),
        ({"units": 2.5}, "units=2.5"),
        ({"units": True}, "units=True"),
        ({"mixing_weight": -0.1}, "mixing_weight=-0.1"),
        ({"mixing_weight": math.nan}, "mixing_weight=nan"),
        ({"draws": -1}, "draws=-1"),
        ({"draws": 10**8}, "draws=100000000"),
        ({"floor": 0.6}, "floor=0.6"),
        ({"floor": math.nan}, "floor=nan"),
        ({"second_floor": 0.05}, "second_floor=0.05"),
        ({"second_floor": 0.95}, "second_floor=0.95"),
    ],
)
def test_mixing_rounds(change, named):
    usual = {"units": 10, "mixing_weight": 0.5, "draws": 3, "floor": 0.1}
    assert MixingRound(**usual) == MixingRound(np.int64(10), 0.5, np.int32(3), 0.1)
    with pytest.raises(SpecError, match=named):
        MixingRound(**(usual | change))


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan, 1e200, True, "2"])
def test_histogram_rounds(scale):
    with pytest.raises(SpecError, match="stddev="):
        GaussianRound(scale)
    with pytest.raises(SpecError, match="scale="):
        LaplaceRound(scale)


def test_shapes():
    assert RoundShape("mixing", 5, 0.1) == RoundShape("mixing", draws=5, floor=0.1, share=1.0)
    for wrong in (
        {"kind": "linmix"},
        {"kind": "gaussian", "draws": 3},
        {"kind": "laplace", "floor": 0.1},
        {"kind": "mixing", "draws": 3, "floor": 0.7},
        {"kind": "gaussian", "share": 0.0},
        {"kind": "gaussian", "share": math.inf},
    ):
        with pytest.raises(SpecError, match="Expected"):
            RoundShape(**wrong)


def test_only_rounds_are_rounds():
    assert check_rounds_given([GaussianRound(1.0)]) == (GaussianRound(1.0),)
    with pytest.raises(SpecError, match="round=RoundShape"):
        check_rounds_given([RoundShape("gaussian")])
