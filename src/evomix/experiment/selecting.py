"""Which selection a run uses, and the public settings that only it has."""

from dataclasses import replace

import numpy as np

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.core.errors import SpecError
from evomix.core.protocols import Selection
from evomix.evolution.state import State
from evomix.experiment.modality import Modality
from evomix.experiment.spec import RunSpec
from evomix.selection.denoising import POOLED, choose_denoising, denoising
from evomix.selection.keeping import KeepingGroups
from evomix.selection.methods import GEOMETRIC, make_selection
from evomix.selection.subsample import draw_systematic
from evomix.selection.threshold import NOISE_MULTIPLE
from evomix.selection.without_repeats import draw_without_repeats


def selection_of(spec: RunSpec, modality: Modality) -> str:
    """Return the selection: rank keeps most variety of public records, but loses mass on the way from made-up ones.

    Texts are few beside the private ones, and each is worth its own place: measured, rank is best for them. Where all
    releases are pooled nothing that was voted on is lost, and parents show where mass lies.
    """
    if spec.selection != "auto":
        return spec.selection
    if is_pooled(spec, modality.kind):
        return "subsample"
    return "rank" if modality.public is not None or modality.kind == "text" else "subsample"


def is_pooled(spec: RunSpec, kind: str) -> bool:
    """Return whether rows are made of all releases together: asked for, or left open for the rows of a table."""
    geometric = spec.selection in GEOMETRIC
    return choose_denoising(spec.denoising, informed=False, geometric=geometric, poolable=kind == "table") == POOLED


def resolved(spec: RunSpec, modality: Modality) -> RunSpec:
    """Return ``spec`` with the settings of post-processing chosen, so that a run's record says which they were.

    Args:
        spec: what was asked for.
        modality: what a record is, and whether there are public ones.

    Raises:
        SpecError: denoising does not go with the selection or the records.
    """
    if spec.denoising == POOLED and modality.kind != "table":
        raise SpecError(
            f"denoising='{POOLED}' reads the candidates of all rounds by the columns of a table; for a {modality.kind} "
            "leave it out, or take another"
        )
    if spec.method == "marginals":  # which asks for no votes
        return spec
    geometric = selection_of(spec, modality) in GEOMETRIC
    # Public texts are of another domain more often than public rows of another people: nothing leans on their votes.
    informed = modality.public is not None and modality.kind != "text"
    return replace(
        spec,
        denoising=choose_denoising(
            spec.denoising, informed=informed, geometric=geometric, poolable=modality.kind == "table"
        ),
        schedule="geometric" if spec.schedule == "auto" else spec.schedule,
        threshold=NOISE_MULTIPLE if spec.selection == "gape" and spec.threshold is None else spec.threshold,
    )


def with_rounds(spec: RunSpec, rounds: int, modality: Modality) -> RunSpec:
    """Return a resolved spec once its releases are known: of one there is nothing to pool, so it stands alone."""
    if rounds > 1 or spec.denoising != POOLED:
        return spec
    return replace(spec, denoising=choose_denoising("auto", informed=modality.public is not None))


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
        denoise=denoising(spec.denoising),
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


def votes_warnings(selection: Selection, state: State, planned: int) -> tuple[str, ...]:
    """Return sentences on what became of the releases; public facts.

    Args:
        selection: of the run.
        state: the last one.
        planned: rounds of the plan.
    """
    if state.release is None:
        return ()
    found = []
    why = selection.describe(state.release).get("fallback")
    if why is not None:
        found.append(
            f"gape could not select from the last release ({why}): the rows follow the estimated votes alone. Take "
            "fewer candidates (--candidates), a lower --threshold or a larger epsilon, or another --selection"
        )
    if state.earlier and len(state.released) < planned:
        found.append(
            f"{len(state.released)} of {planned} rounds are left: the others were begun and lost, and stay charged"
        )
    return tuple(found)
