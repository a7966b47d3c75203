"""What a plan says: figures of the run, and of each of its rounds."""

from dataclasses import asdict, dataclass
from typing import Any, Final

from evomix.experiment.comparison import Compared
from evomix.experiment.trade_off import TradeOff

_WHERE_ASKED: Final = ("proximity_assumed", "comparison", "recommended", "reason", "trade_off")


@dataclass(frozen=True, slots=True)
class RoundPlan:
    """What one round is planned to release.

    Attributes:
        mechanism: pubmix, linmix, gaussian or laplace.
        candidates: most candidates, d.
        draws: draws of a mixture; 0 for a histogram.
        mixing_weight, floor: β and t that are accounted for (mixtures; else ``None``).
        noise_scale: standard deviation (Gaussian) or scale (Laplace) of the noise on a vote, in units (else ``None``).
        blocks: column sets that are counted together, each with √blocks times that noise; 1 for votes.
        counted: what these column sets are, in words; None for votes.
    """

    mechanism: str
    candidates: int
    draws: int
    mixing_weight: float | None
    floor: float | None
    noise_scale: float | None
    blocks: int = 1
    counted: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The public plan of a run.

    Where rounds differ, a figure that they do not share is ``None`` here and stands in ``per_round``.

    Attributes:
        n: private units.
        epsilon, delta: the budget.
        adjacency: neighbour relation of every number here.
        mechanism: pubmix, linmix, gaussian or laplace; a comma list, one a round, where they differ.
        rows: synthetic records to make.
        rounds: T.
        candidates: most candidates of any round, d.
        draws: draws of each round, 0 in a histogram's (empty if no round draws).
        variations: variations of each parent per round.
        mixing_weight, floor: β and t (mixtures).
        noise_scale: standard deviation (Gaussian) or scale (Laplace) of the noise on a vote, in units.
        signal: what the last round's release is worth at its planned noise, in noise-free draws.
        worst_case_tv: largest total variation between the last release's law and the votes that public data allow
            (mixtures).
        warnings: sentences for the user.
        per_round: what each round releases.
        accountant: what the budget was turned into noise by: "draws", "gaussian", "laplace", "pld" or "renyi".
        useful_candidates: the most candidates that this budget tells apart.
        proximity: γ that was reckoned with; ``None`` without public votes.
        proximity_assumed: whether γ was assumed for want of anything that tells; ``None`` without public votes.
        comparison: what linmix, gaussian and pubmix would each do; ``None`` without public votes.
        recommended: the mechanism that is forecast to do best (as ``comparison``).
        reason: why, in one sentence (as ``comparison``).
        trade_off: the curve over draws and candidates; ``None`` unless it was asked for, empty if no round draws.
        method: "votes" for candidates, or "marginals": counts of column sets.
    """

    n: int
    epsilon: float
    delta: float
    adjacency: str
    mechanism: str
    rows: int
    rounds: int
    candidates: int
    draws: tuple[int, ...]
    variations: int
    mixing_weight: float | None
    floor: float | None
    noise_scale: float | None
    signal: float
    worst_case_tv: float | None
    warnings: tuple[str, ...]
    per_round: tuple[RoundPlan, ...]
    accountant: str
    useful_candidates: int
    proximity: float | None = None
    proximity_assumed: bool | None = None
    comparison: tuple[Compared, ...] | None = None
    recommended: str | None = None
    reason: str | None = None
    trade_off: tuple[TradeOff, ...] | None = None
    method: str = "votes"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; what was not asked for is left out."""
        values = asdict(self) | {
            "draws": list(self.draws),
            "total_draws": sum(self.draws),
            "warnings": list(self.warnings),
            "per_round": [asdict(one) for one in self.per_round],
        }
        if self.comparison is not None:
            values["comparison"] = {one.mechanism: asdict(one) for one in self.comparison}
        if self.trade_off is not None:
            values["trade_off"] = [asdict(one) for one in self.trade_off]
        return {name: value for name, value in values.items() if name not in _WHERE_ASKED or value is not None}
