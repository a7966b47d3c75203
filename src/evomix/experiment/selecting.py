"""Which selection a run uses, and the public settings that only it has."""

from dataclasses import replace

import numpy as np

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.core.protocols import Selection
from evomix.core.release import Release
from evomix.experiment.modality import Modality
from evomix.experiment.spec import RunSpec
from evomix.selection.denoising import DENOISINGS, choose_denoising
from evomix.selection.keeping import KeepingGroups
from evomix.selection.methods import GEOMETRIC, make_selection
from evomix.selection.subsample import draw_systematic
from evomix.selection.threshold import NOISE_MULTIPLE
from evomix.selection.without_repeats import draw_without_repeats


def selection_of(spec: RunSpec, modality: Modality) -> str:
    """Return the selection: rank keeps most variety of public records, but loses mass on the way from made-up ones.

    Texts are few beside the private ones, and each is worth its own place: measured, rank is best for them.
    """
    if spec.selection != "auto":
        return spec.selection
    return "rank" if modality.public is not None or modality.kind == "text" else "subsample"


def resolved(spec: RunSpec, modality: Modality) -> RunSpec:
    """Return ``spec`` with the settings of post-processing chosen, so that a run's record says which they were.

    Args:
        spec: what was asked for.
        modality: what a record is, and whether there are public ones.

    Raises:
        SpecError: denoising and selection do not go together.
    """
    if spec.method == "marginals":  # which asks for no votes
        return spec
    geometric = selection_of(spec, modality) in GEOMETRIC
    # Public texts are of another domain more often than public rows of another people: nothing leans on their votes.
    informed = modality.public is not None and modality.kind != "text"
    return replace(
        spec,
        denoising=choose_denoising(spec.denoising, informed=informed, geometric=geometric),
        schedule="geometric" if spec.schedule == "auto" else spec.schedule,
        threshold=NOISE_MULTIPLE if spec.selection == "gape" and spec.threshold is None else spec.threshold,
    )


def selection_for(spec: RunSpec, name: str, modality: Modality) -> Selection:
    """Return the selection of a resolved run.

    Args:
        spec: resolved.
        name: the selection that was chosen.
        modality: the geometry of the votes, and groups of candidates of which none may be lost.
    """
    selection = make_selection(
        name,
        vectors=modality.embedder.vectors,
        denoise=DENOISINGS[spec.denoising],
        threshold=spec.threshold,
        radius=spec.radius,
    )
    return selection if modality.groups is None else KeepingGroups(selection, modality.groups)


def draw_rows(
    shares: FloatArray, rows: int, rng: np.random.Generator, *, modality: Modality, candidates: Population
) -> IntArray:
    """Return the positions of the candidates that rows are made of, int64 (rows,), in random order.

    Args:
        shares: float64 (d,), the law of the rows.
        rows: how many are wanted.
        rng: public randomness.
        modality: whether records repeat, and groups of candidates that each have their share of the rows.
        candidates: (d, …), released.
    """
    if modality.repeats:
        return draw_systematic(shares, rows, rng)
    groups = None if modality.groups is None else modality.groups(candidates)
    return draw_without_repeats(shares, rows, rng, groups=groups)


def selection_warnings(selection: Selection, last: Release) -> tuple[str, ...]:
    """Return a sentence when the rows could not be found as was asked for; a public fact of the last release."""
    why = selection.describe(last).get("fallback")
    if why is None:
        return ()
    warning = (
        f"gape could not select from the last release ({why}): the rows follow the estimated votes alone. Take fewer "
        "candidates (--candidates), a lower --threshold or a larger epsilon, or another --selection"
    )
    return (warning,)
