"""From the rounds of a run to its releases on a worst-case pair of neighbours."""

from collections.abc import Sequence
from dataclasses import replace

from evomix.audit.claim import Claim
from evomix.audit.draws import WorstCaseDraws
from evomix.audit.release import Release
from evomix.audit.votes import WorstCaseVotes
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.laplace import LaplaceHistogram
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.rounds import GaussianRound, MixingRound, Round


def worst_case(rounds: Sequence[Round], claim: Claim, *, name: str = "linmix") -> list[Release]:
    """Return what a run of ``rounds`` releases on its worst pair; rounds that differ in draws only are one release.

    The same unit is changed in all rounds, and each round's candidates are the worst for it, which an adaptive run
    may come to.

    Args:
        rounds: what each round releases.
        claim: what the run spends; the mechanisms carry it along.
        name: of the mixing mechanism.

    Raises:
        PrivacyError: a mixture could not be sampled as it is described.
    """
    merged: dict[Round, int] = {}
    for each in rounds:
        draws = each.draws if isinstance(each, MixingRound) else 1
        kind = replace(each, draws=0) if isinstance(each, MixingRound) else each
        merged[kind] = merged.get(kind, 0) + draws
    return [_release(kind, times, claim, name) for kind, times in merged.items()]


def _release(kind: Round, times: int, claim: Claim, name: str) -> Release:
    """Return the release of ``times`` draws or rounds of one kind."""
    if isinstance(kind, MixingRound):
        mixture = Mixture(
            name, kind.mixing_weight, kind.floor, times, kind.units, epsilon=claim.epsilon, delta=claim.delta
        )
        return WorstCaseDraws.of(mixture)
    # Noise on votes does not depend on how many units there are; the pair has one.
    if isinstance(kind, GaussianRound):
        return WorstCaseVotes.of(GaussianHistogram(kind.stddev, times, 1, claim.epsilon, claim.delta))
    return WorstCaseVotes.of(LaplaceHistogram(kind.scale, times, 1, claim.epsilon, claim.delta))
