"""PubMix: mix the votes with a noise distribution designed from the public votes.

Proof: docs/proofs/pubmix.md. Source: PubMix, Theorem 4.2 and Remark 4.5.
"""

from evomix.core.arrays import FloatArray, IntArray
from evomix.privacy.calibration import GRID, mixing_weight
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.noise_design import conform, design_noise, to_weights


def pubmix(
    epsilon: float, delta: float, *, units: int, draws: int, public: FloatArray, proximity: float
) -> Mixture:
    """Calibrate PubMix on the public votes of the first round.

    The floor t and β are chosen together so that the worst-case total variation β·Ψ is least; later rounds keep
    both and may have at most 1/t candidates.

    Args:
        epsilon: ε > 0.
        delta: δ in (0, 1).
        units: n, number of private units.
        draws: draws over all rounds.
        public: float64 (d,), normalised public votes.
        proximity: γ in [0, 1], how far private votes may lie from public ones (total variation).

    Guarantee: (ε, δ)-DP under replacing one private unit, for ``draws`` draws in all, whatever the public data are.
    """
    n = max(units, 1)
    design = design_noise(public, proximity=proximity, epsilon=epsilon, delta=delta, n=n, draws=draws)
    # The floor as integer weights give it: accounted and sampled are one number.
    floor = _on_grid(design.floor)
    weight = mixing_weight(epsilon, delta, n=n, draws=draws, floor=floor)
    return Mixture("pubmix", weight, floor, draws, units, epsilon, delta)


def public_weights(public: FloatArray, *, mixture: Mixture, proximity: float) -> IntArray:
    """Return integer noise weights, int64 (d,), near the public votes and nowhere below the mixture's floor."""
    return to_weights(conform(public, floor=mixture.floor, proximity=proximity), floor=mixture.floor)


def _on_grid(floor: float) -> float:
    """Return ``floor`` rounded down to a multiple of 2⁻⁵³ (at most ½, what one candidate alone needs)."""
    return min(int(floor * GRID), GRID // 2) / GRID
