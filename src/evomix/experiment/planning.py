"""What a run will cost and lose, before any private record is opened."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.experiment.spec import MECHANISMS, check_counts, check_proximity
from evomix.privacy.budget import LARGE_EPSILON
from evomix.privacy.calibration import check_delta, check_epsilon, mixing_weight
from evomix.privacy.gaussian_accounting import gaussian_stddev
from evomix.privacy.laplace_accounting import laplace_scale
from evomix.privacy.mechanisms.linmix import uniform_mass
from evomix.privacy.noise_design import design_noise
from evomix.privacy.worst_case import worst_case_tv

ROUNDS: Final = 2
"""Rounds when the first candidates are public records and the budget is small."""
PLENTY, RICH = 0.08, 0.3
"""Worth of a round, as a share of the table, from which twice and four times as many rounds pay."""
BLIND_ROUNDS: Final = 16
"""Rounds when they can only be made up from the schema, and have a longer way to go."""
VARIATIONS: Final = 3
DRAWS_PER_UNIT: Final = 2
"""Draws planned per private unit: more still help the estimate, but less and less."""
LEAST_DRAWS, MOST_DRAWS = 500, 100_000
SIZES: Final = (30, 100, 200, 500, 1000, 2000, 3000, 5000, 8000, 12_000, 20_000)
SIGNAL_PER_CANDIDATE: Final = 0.1
"""Effective noise-free draws per candidate and round below which more candidates only add noise."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The public plan of a run.

    Attributes:
        n: private units.
        epsilon, delta: the budget.
        adjacency: neighbour relation of every number here.
        mechanism: pubmix, linmix, gaussian or laplace.
        rows: synthetic records to make.
        rounds: T.
        candidates: most candidates of a round, d.
        draws: draws of each round (mixtures; empty for histograms).
        variations: variations of each parent per round.
        mixing_weight, floor: β and t (mixtures).
        noise_scale: standard deviation (Gaussian) or scale (Laplace) of the noise on a vote, in units.
        signal: what one round's release is worth, in noise-free draws.
        worst_case_tv: largest total variation between release law and votes that public data allow (mixtures).
        warnings: sentences for the user.
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

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self) | {
            "draws": list(self.draws),
            "total_draws": sum(self.draws),
            "warnings": list(self.warnings),
        }


def default_delta(n: int) -> float:
    """Return the δ of a run that names none: 1/(n ln n), and never above 10⁻⁶. n is public."""
    return min(1e-6, 1.0 / (n * math.log(n))) if n > 1 else 1e-6


def split_draws(total: int, rounds: int) -> tuple[int, ...]:
    """Return ``total`` draws spread evenly over ``rounds`` rounds.

    >>> split_draws(10, 3)
    (4, 3, 3)
    """
    return tuple(total // rounds + (index < total % rounds) for index in range(rounds))


def signal_of(
    mechanism: str, *, n: int, epsilon: float, delta: float, draws: int, rounds: int, candidates: int
) -> float:
    """Return a round's worth in noise-free draws, at the uniform noise distribution.

    m draws with a share β of noise estimate a vote share as well as m·(1−β)² draws without noise; a histogram with
    noise σ on each of d counts as well as n²/(d·σ²) draws.
    """
    if mechanism in ("linmix", "pubmix"):
        weight = mixing_weight(epsilon, delta, n=max(n, 1), draws=draws, floor=uniform_mass(candidates))
        return draws / rounds * (1.0 - weight) ** 2
    spread = noise_of(mechanism, epsilon=epsilon, delta=delta, rounds=rounds) * (
        math.sqrt(2.0) if mechanism == "laplace" else 1.0
    )
    return float(n) ** 2 / (candidates * spread**2)


def noise_of(mechanism: str, *, epsilon: float, delta: float, rounds: int) -> float:
    """Return the noise of a histogram mechanism on a vote under replace-one, in units."""
    if mechanism == "gaussian":
        return gaussian_stddev(epsilon, delta, rounds=rounds, adjacency="replace-one")
    return laplace_scale(epsilon, delta, rounds=rounds, adjacency="replace-one")


def choose_candidates(mechanism: str, *, n: int, epsilon: float, delta: float, draws: int, rounds: int) -> int:
    """Return the largest number of candidates whose votes still stand out of the noise."""
    chosen = SIZES[0]
    for size in SIZES[1:]:
        signal = signal_of(mechanism, n=n, epsilon=epsilon, delta=delta, draws=draws, rounds=rounds, candidates=size)
        if signal < SIGNAL_PER_CANDIDATE * size:
            break
        chosen = size
    return chosen


def default_rounds(
    mechanism: str, *, n: int, epsilon: float, delta: float, draws: int, candidates: int | None, informed: bool
) -> int:
    """Return T: few rounds where each is noisy, more where the votes can lead further from the first candidates."""
    if not informed:
        return min(BLIND_ROUNDS, draws)
    size = candidates
    if size is None:
        size = choose_candidates(mechanism, n=n, epsilon=epsilon, delta=delta, draws=draws, rounds=ROUNDS)
    signal = signal_of(mechanism, n=n, epsilon=epsilon, delta=delta, draws=draws, rounds=ROUNDS, candidates=size)
    worth = signal / max(n, 1)
    return min(ROUNDS * (4 if worth >= RICH else 2 if worth >= PLENTY else 1), draws)


def plan(
    *,
    n: int,
    epsilon: float,
    delta: float | None = None,
    rows: int = 5000,
    rounds: int | None = None,
    candidates: int | None = None,
    mechanism: str = "auto",
    public_histogram: FloatArray | None = None,
    draws: int | None = None,
    variations: int | None = None,
    proximity: float | str = "auto",
    domain_size: float = math.inf,
    informed: bool | None = None,
) -> Plan:
    """Plan a run from public quantities alone.

    Args:
        n: number of private units (public under replace-one).
        epsilon: ε > 0.
        delta: δ in (0, 1); default :func:`default_delta`.
        rows: synthetic records to make; does not change the cost.
        rounds: T; default 2 to 8 from public records, by the budget, 16 without any, 1 when the candidates are all
            possible records.
        candidates: d, most candidates of a round; default as many as the budget can tell apart.
        mechanism: "auto" is pubmix with a public histogram, else linmix.
        public_histogram: float64 (d,), public votes of the first round; sets the noise distribution of pubmix.
        draws: draws over all rounds (mixtures).
        variations: variations of each parent per round.
        proximity: γ for pubmix; "auto" counts as 0.5 here, where no public table is at hand.
        domain_size: number of possible records, if it is finite.
        informed: whether the first candidates are public records; default: with pubmix.

    Raises:
        SpecError: a parameter is out of range, or would have no effect with this mechanism.

    >>> planned = plan(n=100_000, epsilon=1.0, delta=1e-6, rounds=4, candidates=1000, draws=20_000)
    >>> planned.mechanism, planned.draws, f"{planned.mixing_weight:.2f}"
    ('linmix', (5000, 5000, 5000, 5000), '0.08')
    """
    epsilon = check_epsilon(epsilon)
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise SpecError(f"n must be a whole number of private units, at least 0; found n={n!r}")
    delta = check_delta(default_delta(n) if delta is None else delta)
    check_counts({"rows": rows, "rounds": rounds, "candidates": candidates, "draws": draws, "variations": variations})
    check_proximity(proximity)
    if mechanism not in MECHANISMS:
        raise SpecError(f"mechanism must be one of {', '.join(MECHANISMS)}; found mechanism={mechanism!r}")
    if mechanism == "auto":
        mechanism = "linmix" if public_histogram is None else "pubmix"
    mixing = mechanism in ("linmix", "pubmix")
    _check_effect(mechanism, draws=draws, proximity=proximity, candidates=candidates, public_histogram=public_histogram)
    total = min(max(DRAWS_PER_UNIT * n, LEAST_DRAWS), MOST_DRAWS) if draws is None else draws
    informed = mechanism == "pubmix" if informed is None else informed
    most = candidates if public_histogram is None else len(public_histogram)
    some_rounds = rounds
    if some_rounds is None:
        some_rounds = default_rounds(
            mechanism, n=n, epsilon=epsilon, delta=delta, draws=total, candidates=most, informed=informed
        )
    if most is None:
        most = choose_candidates(mechanism, n=n, epsilon=epsilon, delta=delta, draws=total, rounds=some_rounds)
    if domain_size <= most:
        most, some_rounds = int(domain_size), (1 if rounds is None else rounds)
    signal = signal_of(mechanism, n=n, epsilon=epsilon, delta=delta, draws=total, rounds=some_rounds, candidates=most)
    weight: float | None = None
    floor: float | None = None
    worst: float | None = None
    if mechanism == "pubmix" and public_histogram is not None and most > 1:
        weight, floor, worst = _designed(public_histogram, proximity, epsilon, delta, max(n, 1), total)
    elif mixing:
        floor = uniform_mass(most)
        weight = mixing_weight(epsilon, delta, n=max(n, 1), draws=total, floor=floor)
        uniform = np.full(most, 1.0 / most)
        worst = weight * worst_case_tv(uniform, public=uniform, proximity=1.0) if most > 1 else 0.0
    return Plan(
        n=n,
        epsilon=epsilon,
        delta=delta,
        adjacency="replace-one",
        mechanism=mechanism,
        rows=rows,
        rounds=some_rounds,
        candidates=most,
        draws=split_draws(total, some_rounds) if mixing else (),
        variations=VARIATIONS if variations is None else variations,
        mixing_weight=weight,
        floor=floor,
        noise_scale=None if mixing else noise_of(mechanism, epsilon=epsilon, delta=delta, rounds=some_rounds),
        signal=signal,
        worst_case_tv=worst,
        warnings=_warnings(n, epsilon, delta, signal, most),
    )


def _check_effect(
    mechanism: str,
    *,
    draws: int | None,
    proximity: float | str,
    candidates: int | None,
    public_histogram: FloatArray | None,
) -> None:
    """Refuse what would be ignored: a setting that does nothing hides a misunderstanding."""
    idle = None
    if draws is not None and mechanism not in ("linmix", "pubmix"):
        idle = f"draws={draws} has no effect with mechanism={mechanism!r}: only linmix and pubmix draw"
    elif not isinstance(proximity, str) and mechanism != "pubmix":
        idle = f"proximity={proximity!r} has no effect with mechanism={mechanism!r}: only pubmix relies on public votes"
    elif public_histogram is not None and mechanism != "pubmix":
        idle = f"public_histogram has no effect with mechanism={mechanism!r}: only pubmix relies on public votes"
    elif public_histogram is not None and candidates not in (None, len(public_histogram)):
        idle = f"candidates={candidates} differs from the {len(public_histogram)} entries of public_histogram"
    if idle is not None:
        raise SpecError(f"{idle}. Leave it out, or choose another mechanism")


def _designed(
    public: FloatArray, proximity: float | str, epsilon: float, delta: float, n: int, draws: int
) -> tuple[float, float, float]:
    """Return β, t and the worst-case total variation of pubmix on a public histogram."""
    gamma = 0.5 if isinstance(proximity, str) else float(proximity)
    design = design_noise(public, proximity=gamma, epsilon=epsilon, delta=delta, n=n, draws=draws)
    return design.mixing_weight, design.floor, design.objective


def _warnings(n: int, epsilon: float, delta: float, signal: float, candidates: int) -> tuple[str, ...]:
    found = []
    if epsilon > LARGE_EPSILON:
        found.append(f"epsilon={epsilon:g} is large: it protects little (above {LARGE_EPSILON:g} is rarely defensible)")
    if delta * n >= 1.0:
        found.append(f"delta={delta:g} is 1/n or more: some unit could be revealed outright; choose a smaller delta")
    if candidates > 1 and signal < 10.0:
        found.append(
            "the budget leaves little signal for this many units: relations between columns cannot be kept and "
            "the output will be close to the schema or the public data"
        )
    return tuple(found)
