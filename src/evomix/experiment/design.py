"""From inputs to a calibrated run: candidates, account and settings, all fixed before a record votes."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.core.errors import SpecError
from evomix.evolution.loop import Evolution
from evomix.experiment.accounts import Account, account_of, with_account
from evomix.experiment.counting import CountedRows, begin_counting, stages_for
from evomix.experiment.inputs import Inputs
from evomix.experiment.marginal_plan import plan_marginals
from evomix.experiment.method_choice import method_of, one_round_counts_all
from evomix.experiment.noise_check import check_noise
from evomix.experiment.per_round import MIXING
from evomix.experiment.planning import plan
from evomix.experiment.plans import Plan
from evomix.experiment.public_distance import group_votes, voters_of_sets
from evomix.experiment.public_side import PublicSide
from evomix.experiment.selecting import is_pooled, selection_of
from evomix.experiment.spec import RunSpec
from evomix.experiment.text_plan import text_candidates, text_rounds
from evomix.modalities.tabular.domain import domain_size
from evomix.privacy.noise_design import proximity as mean_distance
from evomix.privacy.noise_design import proximity_of_folds

POOLED_PROXIMITY: Final = 0.9
"""γ where all rounds are pooled: the known noise is taken out again, so that little of it matters more than where it
lies, and public votes are leant on in the fit as far as they hold. Measured: benchmarks/pooling.py."""
PUBLIC_VOTERS: Final = 50_000
"""Most public rows that vote for the noise distribution; more would only cost time."""
FOLDS: Final = 5
SCALES: Final = (1.0, 0.1)
POOLED_SCALES: Final = (0.6, 0.06)
"""How far variations go in the first and in the last round; less far where all rounds are pooled, and what is near a
parent tells of it."""
MOST_CELLS: Final = 10**9
"""Cells of the candidates of a round, of the records drawn, and of the synthetic rows: 8 GB of each. They are held in
memory, and to run out of it once a run is charged would waste the charge."""


@dataclass(frozen=True, slots=True)
class Design:
    """A run with every public choice made.

    Attributes:
        plan: the figures, for people.
        account: the calibrated mechanisms, or what each round may cost.
        proximity: γ that the noise is designed for (pubmix; else 1).
        initial: candidates of round 0.
        evolution: rounds, parents, variations.
        selection: name of the selection; "none" where no votes are asked for.
        counted: what the counts of column sets begin with; None for votes.
    """

    plan: Plan
    account: Account
    proximity: float
    initial: Population
    evolution: Evolution
    selection: str
    counted: CountedRows | None = None


def make_plan(spec: RunSpec, inputs: Inputs) -> Plan:
    """Return the plan of a run; needs the number of private units, which is public.

    Raises:
        SpecError: the settings cannot be planned, or would not fit into memory.
    """
    if run_method(spec, inputs) == "marginals":
        planned = plan_marginals(spec, stages_for(inputs.schema, spec.target), n=inputs.records.units)
        _check_size(planned, columns=len(inputs.schema.modelled))
        return planned
    mechanism = _mechanism(spec, inputs) if spec.mechanism == "auto" else spec.mechanism
    if "pubmix" in mechanism and inputs.modality.public is None:
        raise SpecError("mechanism='pubmix' needs public rows; the public table has none. Use linmix")
    if spec.denoising == "shrunk" and inputs.modality.public is None and not {*mechanism.split(",")} & {*MIXING}:
        raise SpecError(
            "denoising='shrunk' has no effect without public rows: there is nothing to lean on. Leave it out, or "
            "give a public table (--public)"
        )
    pooled = is_pooled(spec, inputs.modality.kind)
    planned = plan(
        n=inputs.records.units,
        epsilon=spec.epsilon,
        delta=spec.delta,
        rows=spec.rows,
        rounds=text_rounds(spec, mechanism, inputs.records.units) if inputs.modality.kind == "text" else spec.rounds,
        candidates=text_candidates(spec, mechanism, inputs.records.units)
        if inputs.modality.kind == "text"
        else spec.candidates,
        accounting=spec.accounting,
        mechanism=mechanism,
        draws=spec.draws,
        variations=spec.variations,
        # The plan has no public votes yet, on which pubmix's γ bears; for others a γ is refused there.
        proximity="auto" if "pubmix" in mechanism else spec.proximity,
        domain_size=domain_size(inputs.schema),
        informed=inputs.modality.public is not None,
        pooled=pooled,
    )
    _check_size(planned, columns=len(inputs.schema.modelled))
    if pooled:
        _check_pool(planned)
    most = planned.per_round[-1].candidates
    if inputs.modality.kind == "text" and planned.rows > most:
        warning = (
            f"{planned.rows} texts are asked for and {most} candidates are voted on: the others are variations of "
            "these, and repeats where none is near enough; ask for fewer (--rows) or for more candidates (--candidates)"
        )
        planned = replace(planned, warnings=(*planned.warnings, warning))
    return planned


def _mechanism(spec: RunSpec, inputs: Inputs) -> str:
    """Return the mechanism of a run that names none."""
    if not isinstance(spec.proximity, str):
        return "pubmix"  # the user vouches for how near public records are
    if inputs.modality.kind == "text":
        return "gaussian"  # texts are few and dear: with candidates far fewer than units it is nearer
    if (spec.rounds, spec.candidates, spec.draws) == (None, None, None) and _counts_all(spec, inputs):
        return "gaussian"  # one round of it counts every possible record
    # Public records serve linmix too, as first candidates and as what the estimate leans on; measured, that is worth
    # more than bending the noise towards them.
    return "linmix"


def run_method(spec: RunSpec, inputs: Inputs) -> str:
    """Return "marginals" or "votes"; see :func:`evomix.experiment.method_choice.method_of`."""
    return method_of(spec, kind=inputs.modality.kind, few=_counts_all(spec, inputs))


def _counts_all(spec: RunSpec, inputs: Inputs) -> bool:
    """Return whether there are so few possible records that one round of votes counts them all."""
    return inputs.modality.kind == "table" and one_round_counts_all(
        domain_size(inputs.schema), n=inputs.records.units, epsilon=spec.epsilon, delta=spec.delta
    )


def _check_size(planned: Plan, *, columns: int) -> None:
    """Refuse what would not fit into memory, before anything is charged."""
    for name, count in (("candidates", planned.candidates), ("draws", sum(planned.draws)), ("rows", planned.rows)):
        if count * columns > MOST_CELLS:
            raise SpecError(
                f"{name}={count} of {columns} columns are more than {MOST_CELLS} cells, which are held in memory; take "
                f"at most {MOST_CELLS // columns}"
            )


def _check_pool(planned: Plan) -> None:
    """Refuse more rounds and candidates than can be read together: each candidate has a cell in each round."""
    everyone = sum(one.candidates for one in planned.per_round)
    if planned.rounds > 1 and everyone * planned.rounds > MOST_CELLS:
        raise SpecError(
            f"{everyone} candidates of rounds={planned.rounds} are more than can be read together, at most "
            f"{MOST_CELLS // planned.rounds}. Take fewer rounds or candidates, or read the last release alone "
            "(denoising='signed', --denoising signed)"
        )


def design(spec: RunSpec, inputs: Inputs, rng: np.random.Generator) -> Design:
    """Choose the first candidates and calibrate the run on them; reads public data only.

    Raises:
        SpecError: the settings cannot be planned.
        PrivacyError: the calibrated rounds do not meet the budget.
        EnvironmentFailure: their noise cannot be drawn.
    """
    planned = make_plan(spec, inputs)
    if planned.method == "marginals":
        seed = int(rng.integers(2**31))
        counted = begin_counting(inputs, target=spec.target, seed=seed)
        nobody = inputs.modality.generator.random(0, rng)
        account = account_of(planned)
        check_noise(planned)
        return Design(planned, account, 1.0, nobody, evolution_of(planned), "none", counted)
    most = planned.per_round[0].candidates
    initial = inputs.modality.first(most, rng)
    proximity, public = 1.0, None
    if any(one.mechanism == "pubmix" for one in planned.per_round):
        assignments = public_assignments(inputs, initial, rng)
        proximity = _proximity(spec, inputs, initial, assignments, rng, rounds=planned.rounds)
        # Later rounds may have more candidates than the first (few public rows, many variations of them); as
        # candidates without public votes they count here already, so that the floor leaves room for them.
        room = len(initial) if planned.rounds == 1 else max(most, len(initial))
        public = np.bincount(assignments, minlength=room) / len(assignments)
    account = account_of(planned, public=public, proximity=proximity)
    planned = with_account(planned, account)
    check_noise(planned)
    selection = selection_of(spec, inputs.modality)
    pooled = is_pooled(spec, inputs.modality.kind)
    evolution = evolution_of(planned, spec.schedule, pooled=pooled)
    return Design(planned, account, proximity, initial, evolution, selection)


def evolution_of(planned: Plan, schedule: str = "auto", *, pooled: bool = False) -> Evolution:
    """Return the loop's settings; the scales fall from round to round unless told otherwise."""
    most = tuple(one.candidates for one in planned.per_round)
    first, last = POOLED_SCALES if pooled else SCALES
    chosen = "geometric" if schedule == "auto" else schedule
    return Evolution(most, planned.variations, first, last, schedule=chosen, pooled=pooled)


def public_assignments(inputs: PublicSide, candidates: Population, rng: np.random.Generator) -> IntArray:
    """Return the nearest candidate of each public row (of a sample of them when there are very many)."""
    rows = inputs.modality.public
    assert rows is not None
    if len(rows) > PUBLIC_VOTERS:
        rows = rows[rng.choice(len(rows), PUBLIC_VOTERS, replace=False)]
    return inputs.modality.embedder.index(candidates).nearest(rows)


def _proximity(
    spec: RunSpec,
    inputs: Inputs,
    candidates: Population,
    assignments: IntArray,
    rng: np.random.Generator,
    *,
    rounds: int,
) -> float:
    """Return γ: the user's, that of pooled rounds, or the mean distance between public tables or parts of one."""
    if not isinstance(spec.proximity, str):
        return float(spec.proximity)
    if rounds > 1 and is_pooled(spec, inputs.modality.kind):
        return POOLED_PROXIMITY
    if len(inputs.sets) > 1:
        rows, sets = voters_of_sets(inputs, most=PUBLIC_VOTERS, rng=rng)
        votes = inputs.modality.embedder.index(candidates).nearest(rows)
        return mean_distance(group_votes(votes, sets, len(candidates)))
    if len(assignments) < 2 * FOLDS:
        return 1.0
    return proximity_of_folds(assignments, len(candidates), folds=FOLDS, rng=rng)


def public_voters(inputs: PublicSide) -> int | None:
    """Return how many public records vote beside the private ones; ``None`` without any."""
    rows = inputs.modality.public
    return None if rows is None else min(len(rows), PUBLIC_VOTERS)


def public_shares(inputs: PublicSide, candidates: Population, rng: np.random.Generator) -> FloatArray | None:
    """Return each candidate's share of the public votes, float64 (d,); ``None`` without public records."""
    if inputs.modality.public is None:
        return None
    assignments = public_assignments(inputs, candidates, rng)
    return np.asarray(np.bincount(assignments, minlength=len(candidates)) / len(assignments))
