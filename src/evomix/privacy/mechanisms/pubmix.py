"""PubMix: mix the votes with a noise distribution designed from the public votes.

Proof: docs/proofs/pubmix.md. Source: PubMix, Theorem 4.2 and Remark 4.5.
"""

from dataclasses import replace

from evomix.core.arrays import FloatArray, IntArray
from evomix.privacy.mechanisms.linmix import linmix
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.noise_design import conform, design_noise, to_weights


def pubmix(epsilon: float, delta: float, *, units: int, draws: int, public: FloatArray, proximity: float) -> Mixture:
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
    if len(public) == 1:
        return replace(linmix(epsilon, delta, units=units, draws=draws, candidates=1), name="pubmix")
    design = design_noise(public, proximity=proximity, epsilon=epsilon, delta=delta, n=max(units, 1), draws=draws)
    return Mixture("pubmix", design.mixing_weight, design.floor, draws, units, epsilon, delta)


def public_weights(public: FloatArray, *, mixture: Mixture, proximity: float) -> IntArray:
    """Return integer noise weights, int64 (d,), near the public votes and nowhere below the mixture's floor."""
    return to_weights(conform(public, floor=mixture.floor, proximity=proximity), floor=mixture.floor)
