"""Whether a run's noise can be drawn, found out before anything is charged."""

from typing import Final

import numpy as np

from evomix.core.errors import EnvironmentFailure, EvomixError
from evomix.experiment.plans import Plan
from evomix.privacy.lattice_noise import add_gaussian, add_laplace
from evomix.privacy.mechanisms.gaussian import spread_over

_ANY_NOISE: Final = 1.0
"""Where the noise of a round is chosen as it comes."""


def check_noise(planned: Plan) -> None:
    """Add each round's noise to no counts at all: that loads the library, and it checks its own proof.

    A charged run then neither fails for want of the library nor spends the seconds of its loading between the charge of
    a round and what is released, where to be interrupted loses the round.

    Args:
        planned: a calibrated run.

    Raises:
        EnvironmentFailure: the library of noise cannot be used.
        PrivacyError: its own proof grants less privacy than is accounted for.
    """
    nothing = np.zeros(0, np.int64)
    try:
        for one in planned.per_round:
            scale = _ANY_NOISE if one.noise_scale is None else one.noise_scale
            if one.mechanism == "gaussian":
                add_gaussian(nothing, stddev=spread_over(scale, one.blocks))
            elif one.mechanism == "laplace":
                add_laplace(nothing, scale=scale)
    except EvomixError:
        raise
    except Exception as error:
        raise EnvironmentFailure(
            f"noise is drawn by opendp, which cannot be used: found {type(error).__name__}={str(error)!r:.200}. "
            "Install a version that evomix supports (`evomix doctor`). Nothing was drawn"
        ) from error
