"""From inputs to a calibrated run: candidates, mechanism and noise, all fixed before a record votes."""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.core.errors import InputFileError, PrivacyError, SpecError
from evomix.evolution.loop import Evolution
from evomix.evolution.step import distinct
from evomix.experiment.inputs import Inputs
from evomix.experiment.planning import Plan, plan, split_draws
from evomix.experiment.spec import RunSpec
from evomix.modalities.tabular.domain import domain_size, enumerate_domain
from evomix.privacy.calibration import delta as mixing_delta
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.laplace import LaplaceHistogram
from evomix.privacy.mechanisms.linmix import linmix, uniform_weights
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.mechanisms.pubmix import public_weights, pubmix
from evomix.privacy.noise_design import proximity_of_folds

PUBLIC_VOTERS: Final = 50_000
"""Most public rows that vote for the noise distribution; more would only cost time."""
FOLDS: Final = 5
OVERSAMPLING: Final = 4
"""Records looked at for each first candidate, because public tables repeat rows."""
TOP_UP_SCALE: Final = 0.25
"""How far first candidates go beyond public rows where these are too few."""

Mechanism = Mixture | GaussianHistogram | LaplaceHistogram


@dataclass(frozen=True, slots=True)
class Design:
    """A run with every public choice made.

    Attributes:
        plan: the figures, for people.
        mechanism: the calibrated mechanism.
        proximity: γ that the noise was designed for (pubmix; else 1).
        initial: candidates of round 0.
        evolution: rounds, parents, variations.
        selection: name of the selection.
    """

    plan: Plan
    mechanism: Mechanism
    proximity: float
    initial: Population
    evolution: Evolution
    selection: str


def make_plan(spec: RunSpec, inputs: Inputs) -> Plan:
    """Return the plan of a run; needs the number of private units, which is public."""
    mechanism = spec.mechanism
    if mechanism == "auto":
        # Public records serve linmix too, as first candidates and as the prior of its estimate; measured, that is worth
        # more than bending the noise towards them, unless the user vouches for how near they are.
        mechanism = "linmix" if isinstance(spec.proximity, str) else "pubmix"
    if mechanism == "pubmix" and inputs.modality.public is None:
        raise SpecError("mechanism='pubmix' needs public rows; the public table has none. Use linmix")
    return plan(
        n=inputs.records.units,
        epsilon=spec.epsilon,
        delta=spec.delta,
        rows=spec.rows,
        rounds=spec.rounds,
        candidates=spec.candidates,
        mechanism=mechanism,
        draws=spec.draws,
        variations=spec.variations,
        proximity=spec.proximity,
        domain_size=domain_size(inputs.schema),
        informed=inputs.modality.public is not None,
    )


def design(spec: RunSpec, inputs: Inputs, rng: np.random.Generator) -> Design:
    """Choose the first candidates and calibrate the mechanism on them; reads public data only."""
    planned = make_plan(spec, inputs)
    initial = first_candidates(inputs, planned.candidates, rng)
    proximity = 1.0
    mechanism: Mechanism
    if planned.mechanism == "pubmix":
        assignments = public_assignments(inputs, initial, rng)
        proximity = _proximity(spec, assignments, len(initial), rng)
        # Later rounds may have more candidates than the first (few public rows, many variations of them); as
        # candidates without public votes they count here already, so that the floor leaves room for them.
        room = len(initial) if planned.rounds == 1 else max(planned.candidates, len(initial))
        public = np.bincount(assignments, minlength=room) / len(assignments)
        total = sum(planned.draws)
        mechanism = pubmix(
            planned.epsilon, planned.delta, units=planned.n, draws=total, public=public, proximity=proximity
        )
    else:
        mechanism = calibrate(planned, planned.candidates)
    planned = with_mechanism(planned, mechanism)
    selection = selection_of(spec, informed=inputs.modality.public is not None)
    return Design(planned, mechanism, proximity, initial, evolution_of(planned), selection)


def calibrate(planned: Plan, candidates: int) -> Mechanism:
    """Calibrate a mechanism that needs no public votes."""
    if planned.mechanism == "linmix":
        return linmix(planned.epsilon, planned.delta, units=planned.n, draws=sum(planned.draws), candidates=candidates)
    histogram = GaussianHistogram if planned.mechanism == "gaussian" else LaplaceHistogram
    return histogram.calibrate(planned.epsilon, planned.delta, units=planned.n, rounds=planned.rounds)


def with_mechanism(planned: Plan, mechanism: Mechanism) -> Plan:
    """Return the plan with the figures of the calibrated mechanism."""
    if isinstance(mechanism, Mixture):
        return replace(
            planned,
            draws=split_draws(mechanism.draws, planned.rounds),
            mixing_weight=mechanism.mixing_weight,
            floor=mechanism.floor,
            worst_case_tv=None,
        )
    return planned


def evolution_of(planned: Plan) -> Evolution:
    """Return the loop's settings: as many parents as keep every round within the planned candidates."""
    variations = min(planned.variations, planned.candidates - 1)
    size = max(planned.candidates // (variations + 1), 1)
    return Evolution(planned.rounds, size, variations)


def selection_of(spec: RunSpec, *, informed: bool) -> str:
    """Return the selection: rank keeps most variety of public records, but loses mass on the way from made-up ones."""
    if spec.selection != "auto":
        return spec.selection
    return "rank" if informed else "subsample"


def first_candidates(inputs: Inputs, size: int, rng: np.random.Generator) -> Population:
    """Return the candidates of round 0, at most ``size`` distinct ones.

    Every possible record if ``size`` allows, else what the generator proposes. Public tables repeat rows, so more are
    asked for than are needed, and what is still missing is made by varying those that are there.
    """
    if domain_size(inputs.schema) <= size:
        return enumerate_domain(inputs.schema)
    generator = inputs.modality.generator
    found = distinct(generator.random(OVERSAMPLING * size, rng))[:size]
    if len(found) == size:
        return found
    varied = generator.vary(found[rng.integers(len(found), size=OVERSAMPLING * size)], TOP_UP_SCALE, rng)
    return distinct(np.concatenate([found, varied]))[:size]


def public_assignments(inputs: Inputs, candidates: Population, rng: np.random.Generator) -> IntArray:
    """Return the nearest candidate of each public row (of a sample of them when there are very many)."""
    rows = inputs.modality.public
    assert rows is not None
    if len(rows) > PUBLIC_VOTERS:
        rows = rows[rng.choice(len(rows), PUBLIC_VOTERS, replace=False)]
    return inputs.modality.embedder.index(candidates).nearest(rows)


def _proximity(spec: RunSpec, assignments: IntArray, candidates: int, rng: np.random.Generator) -> float:
    """Return γ: the user's, or the mean distance between random parts of the public table."""
    if not isinstance(spec.proximity, str):
        return float(spec.proximity)
    if len(assignments) < 2 * FOLDS:
        return 1.0
    return proximity_of_folds(assignments, candidates, folds=FOLDS, rng=rng)


def public_shares(inputs: Inputs, candidates: Population, rng: np.random.Generator) -> FloatArray | None:
    """Return each candidate's share of the public votes, float64 (d,); ``None`` without public records."""
    if inputs.modality.public is None:
        return None
    assignments = public_assignments(inputs, candidates, rng)
    return np.asarray(np.bincount(assignments, minlength=len(candidates)) / len(assignments))


def noise_weights(made: Design, candidates: int, public: FloatArray | None) -> IntArray | None:
    """Return a round's integer noise weights, int64 (candidates,); ``None`` for histograms."""
    mechanism = made.mechanism
    if not isinstance(mechanism, Mixture):
        return None
    if mechanism.name == "linmix" or candidates == 1:
        return uniform_weights(candidates)
    assert public is not None
    return public_weights(public, mixture=mechanism, proximity=made.proximity)


def restore(saved: dict[str, Any], planned: Plan) -> Mechanism:
    """Return the mechanism of an interrupted run, certified anew from its saved parameters.

    Raises:
        InputFileError: a saved parameter is missing or is no number.
        PrivacyError: the saved parameters do not meet the budget.
    """
    if planned.mechanism in ("linmix", "pubmix"):
        try:
            weight, floor, draws = float(saved["mixing_weight"]), float(saved["floor"]), int(saved["draws"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputFileError(
                "the checkpoint's mechanism is damaged. What the run spent stays spent; "
                "start a new run in another --run-dir"
            ) from error
        mechanism = Mixture(planned.mechanism, weight, floor, draws, planned.n, planned.epsilon, planned.delta)
        spent = mixing_delta(
            planned.epsilon,
            mixing_weight=mechanism.mixing_weight,
            n=max(planned.n, 1),
            draws=mechanism.draws,
            floor=mechanism.floor,
        )
        if not spent <= planned.delta:
            raise PrivacyError("the saved mechanism does not meet the run's budget; start a new run")
        return mechanism
    return calibrate(planned, planned.candidates)
