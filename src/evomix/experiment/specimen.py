"""A mechanism to audit, calibrated from options as a run would calibrate it; no data is involved."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from evomix.core.errors import SpecError
from evomix.privacy.calibration import check_delta, check_epsilon, mixing_weight
from evomix.privacy.gaussian_accounting import gaussian_epsilon, gaussian_stddev
from evomix.privacy.laplace_accounting import laplace_epsilon, laplace_scale
from evomix.privacy.mechanisms.linmix import uniform_mass
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, Round

MIXING: Final = ("linmix", "pubmix")
HISTOGRAMS: Final = ("gaussian", "laplace")
DELTA: Final = 1e-2
"""δ when none is given: far too large for a release, and where an audit sees most."""


@dataclass(frozen=True, slots=True)
class Specimen:
    """A calibrated mechanism.

    Attributes:
        mechanism: its name.
        units: n, where the mechanism depends on it.
        epsilon, delta: what it spends (replace-one).
        rounds: what it releases.
    """

    mechanism: str
    units: int | None
    epsilon: float
    delta: float
    rounds: tuple[Round, ...]


def calibrated(
    mechanism: str,
    *,
    epsilon: float | None = None,
    delta: float = DELTA,
    n: int | None = None,
    draws: int | None = None,
    candidates: int | None = None,
    floor: float | None = None,
    rounds: int | None = None,
    stddev: float | None = None,
    scale: float | None = None,
) -> Specimen:
    """Return a mechanism to audit, with the least noise that meets (ε, δ).

    Args:
        mechanism: "linmix", "pubmix", "gaussian" or "laplace".
        epsilon: ε; for histograms the noise may be given in its place.
        delta: δ.
        n: private units (mixtures).
        draws: draws in all (mixtures).
        candidates: d (mixtures).
        floor: smallest noise mass (pubmix; default half of 1/d).
        rounds: T (histograms; default 1).
        stddev: σ on a vote, in units (gaussian), instead of ε.
        scale: b on a vote, in units (laplace), instead of ε.

    Raises:
        SpecError: an argument is missing, out of range or has no effect.
    """
    if mechanism not in (*MIXING, *HISTOGRAMS):
        raise SpecError(f"mechanism must be one of {', '.join((*MIXING, *HISTOGRAMS))}; found mechanism={mechanism!r}")
    check_delta(delta)
    if mechanism in MIXING:
        _refuse_idle(mechanism, rounds=rounds, stddev=stddev, scale=scale)
        _refuse_idle(mechanism, floor=floor if mechanism == "linmix" else None)
        return _mixture(mechanism, epsilon, delta, n=n, draws=draws, candidates=candidates, floor=floor)
    _refuse_idle(mechanism, n=n, draws=draws, candidates=candidates, floor=floor)
    times = 1 if rounds is None else rounds
    if mechanism == "gaussian":
        _refuse_idle(mechanism, scale=scale)
        epsilon, noise = _noise("stddev", epsilon, delta, stddev, times, gaussian_stddev, gaussian_epsilon)
        return Specimen(mechanism, None, epsilon, delta, (GaussianRound(noise),) * times)
    _refuse_idle(mechanism, stddev=stddev)
    epsilon, noise = _noise("scale", epsilon, delta, scale, times, laplace_scale, laplace_epsilon)
    return Specimen(mechanism, None, epsilon, delta, (LaplaceRound(noise),) * times)


def _mixture(
    mechanism: str,
    epsilon: float | None,
    delta: float,
    *,
    n: int | None,
    draws: int | None,
    candidates: int | None,
    floor: float | None,
) -> Specimen:
    if epsilon is None or n is None or draws is None or candidates is None:
        given = {"epsilon": epsilon, "n": n, "draws": draws, "candidates": candidates}
        missing = ", ".join(name for name, value in given.items() if value is None)
        raise SpecError(f"mechanism={mechanism!r} needs epsilon, n, draws and candidates; missing: {missing}")
    if candidates < 1:
        raise SpecError(f"candidates must be at least 1; found candidates={candidates}")
    least = uniform_mass(candidates)
    if mechanism == "pubmix":
        highest, least = least, least / 2.0 if floor is None else floor
        if not 0.0 < least <= highest:
            raise SpecError(f"floor must lie above 0 and at most at 1/candidates; found floor={floor!r}")
    weight = mixing_weight(check_epsilon(epsilon), delta, n=n, draws=draws, floor=least)
    return Specimen(mechanism, n, float(epsilon), delta, (MixingRound(n, weight, draws, least),))


def _noise(
    name: str,
    epsilon: float | None,
    delta: float,
    noise: float | None,
    rounds: int,
    calibrate: Callable[..., float],
    spent: Callable[..., float],
) -> tuple[float, float]:
    """Return ε and the noise, one of them given."""
    if (epsilon is None) == (noise is None):
        raise SpecError(f"give either epsilon or {name}; the other follows from it")
    if noise is None:
        assert epsilon is not None
        return epsilon, calibrate(check_epsilon(epsilon), delta, rounds=rounds)
    return spent(delta, **{name: noise}, rounds=rounds), noise


def _refuse_idle(mechanism: str, **options: Any) -> None:
    """Refuse what would be ignored: a setting that does nothing hides a misunderstanding."""
    for name, value in options.items():
        if value is not None:
            raise SpecError(f"{name}={value!r} has no effect with mechanism={mechanism!r}; leave it out")
