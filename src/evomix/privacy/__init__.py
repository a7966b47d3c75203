"""DP mathematics on numbers and vectors: knows no file, row, modality or machine-learning library."""

from evomix.privacy.calibration import delta, max_draws, mixing_weight
from evomix.privacy.floor_raising import raise_floor, water_fill
from evomix.privacy.gaussian_accounting import gaussian_delta, gaussian_epsilon, gaussian_stddev
from evomix.privacy.laplace_accounting import laplace_delta, laplace_epsilon, laplace_scale
from evomix.privacy.ledger import Budget, Ledger
from evomix.privacy.noise_design import NoiseDesign, design_noise, proximity
from evomix.privacy.worst_case import worst_case_tv

__all__ = [
    "Budget",
    "Ledger",
    "NoiseDesign",
    "delta",
    "design_noise",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_stddev",
    "laplace_delta",
    "laplace_epsilon",
    "laplace_scale",
    "max_draws",
    "mixing_weight",
    "proximity",
    "raise_floor",
    "water_fill",
    "worst_case_tv",
]
