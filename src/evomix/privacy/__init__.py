"""DP mathematics on numbers and vectors: knows no file, row, modality or machine-learning library."""

from evomix.privacy.adjacency import convert_guarantee
from evomix.privacy.bounded_sensitivity import (
    bounded_delta,
    bounded_mixing_weight,
    lemma_h1_delta,
    lemma_h1_weight,
)
from evomix.privacy.calibration import delta, max_draws, mixing_weight
from evomix.privacy.composition import accountant_of, calibrate_rounds, composed_delta, composed_epsilon
from evomix.privacy.floor_raising import compare_donors, raise_floor, water_fill
from evomix.privacy.gaussian_accounting import gaussian_delta, gaussian_epsilon, gaussian_stddev
from evomix.privacy.laplace_accounting import laplace_delta, laplace_epsilon, laplace_scale
from evomix.privacy.ledger import Budget, Ledger
from evomix.privacy.noise_design import NoiseDesign, design_noise, proximity
from evomix.privacy.renyi import renyi_divergence
from evomix.privacy.renyi_filter import RenyiFilter
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, RoundShape
from evomix.privacy.worst_case import worst_case_tv, worst_set

__all__ = [
    "Budget",
    "GaussianRound",
    "LaplaceRound",
    "Ledger",
    "MixingRound",
    "NoiseDesign",
    "RenyiFilter",
    "RoundShape",
    "accountant_of",
    "bounded_delta",
    "bounded_mixing_weight",
    "calibrate_rounds",
    "compare_donors",
    "composed_delta",
    "composed_epsilon",
    "convert_guarantee",
    "delta",
    "design_noise",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_stddev",
    "laplace_delta",
    "laplace_epsilon",
    "laplace_scale",
    "lemma_h1_delta",
    "lemma_h1_weight",
    "max_draws",
    "mixing_weight",
    "proximity",
    "raise_floor",
    "renyi_divergence",
    "water_fill",
    "worst_case_tv",
    "worst_set",
]
