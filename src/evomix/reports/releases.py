"""What each round of a run released, in sentences, from the public parameters in ``privacy.json``."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from evomix.reports.wording import count, percent, small_number

MECHANISMS = {
    "pubmix": "PubMix: votes are drawn at random from a mixture of the private votes and noise shaped by public data",
    "linmix": "LinMix: votes are drawn at random from a mixture of the private votes and uniform noise",
    "gaussian": "discrete Gaussian noise added to the count of votes of every candidate",
    "laplace": "discrete Laplace noise added to the count of votes of every candidate",
}
_SHORT = {"pubmix": "PubMix", "linmix": "LinMix", "gaussian": "Gaussian noise", "laplace": "Laplace noise"}


def mechanisms_in_words(mechanism: str) -> str:
    """Return the mechanisms of a run in words, each once; an unknown name as it is."""
    return "; ".join(MECHANISMS.get(name, name) for name in dict.fromkeys(mechanism.split(",")))


def differing_rounds(privacy: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one sentence a round (a run of like rounds has one for all), or none if all rounds are alike."""
    releases = [release for release in privacy.get("releases") or () if isinstance(release, Mapping)]
    told = [(_place(index, release), _release(release)) for index, release in enumerate(releases)]
    if len({sentence for _, sentence in told}) <= 1:
        return ()
    alike = [(sentence, [place for place, _ in group]) for sentence, group in groupby(told, key=lambda pair: pair[1])]
    return tuple(f"{_rounds(places)}: {sentence}." for sentence, places in alike)


def _place(index: int, release: Mapping[str, Any]) -> int:
    """Return the number of a round, counted from 1; lost rounds may be missing in the list."""
    place = release.get("round")
    return (place if isinstance(place, int) else index) + 1


def _rounds(places: Sequence[int]) -> str:
    return f"Round {places[0]}" if len(places) == 1 else f"Rounds {places[0]} to {places[-1]}"


def _release(release: Mapping[str, Any]) -> str:
    name = str(release.get("mechanism"))
    parts = [_SHORT.get(name, name)]
    if release.get("candidates") is not None:
        parts.append(f"{count(release['candidates'])} candidates")
    if release.get("draws") is not None:
        parts.append(f"{count(release['draws'])} draws")
    if release.get("mixing_weight") is not None:
        parts.append(f"each noise with probability {percent(release['mixing_weight'])}")
    if release.get("stddev") is not None:
        parts.append(f"σ = {small_number(release['stddev'])} units on each count")
    if release.get("scale") is not None:
        parts.append(f"scale {small_number(release['scale'])} units on each count")
    return ", ".join(parts)
