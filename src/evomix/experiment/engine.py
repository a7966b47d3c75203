"""One run from inputs to synthetic rows: charge, evolve, harvest."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evomix.core.arrays import Population
from evomix.core.errors import EnvironmentFailure
from evomix.core.protocols import Selection
from evomix.core.release import Release
from evomix.curator.curator import Curator
from evomix.curator.guard import withheld
from evomix.evolution.loop import evolve
from evomix.evolution.state import State, forget_state
from evomix.evolution.step import Round
from evomix.experiment import artifacts
from evomix.experiment.accounts import mechanism_of, noise_weights, restored
from evomix.experiment.counted_run import count_run
from evomix.experiment.design import Design, design, public_shares, public_voters, run_method
from evomix.experiment.finished import Finished
from evomix.experiment.identity import dataset_name, fingerprint, spec_digest, unit_in_words
from evomix.experiment.inputs import Inputs, Progress, open_inputs
from evomix.experiment.pooled_law import PooledLaw, pooled_law
from evomix.experiment.preparing import forget_prepared, load_prepared, save_prepared, seed_of
from evomix.experiment.privacy_record import privacy_record
from evomix.experiment.resuming import check_same, check_state, deciding_settings, saved_run
from evomix.experiment.selecting import resolved, selection_for, votes_warnings, with_rounds
from evomix.experiment.spec import RunSpec
from evomix.privacy.budget import Budget
from evomix.privacy.ledger import Ledger
from evomix.privacy.mechanisms.allowance import Allowance
from evomix.privacy.mechanisms.schedule import release_of
from evomix.privacy.randomness import RandomSource, SystemSource


@dataclass(frozen=True, slots=True)
class RunRounds:
    """The ledger's view of one run, for the curator."""

    ledger: Ledger
    run_id: str

    def begin_round(self, round_index: int) -> None:
        """Record a release that is about to be computed."""
        self.ledger.begin_round(self.run_id, round_index)

    def begun(self) -> frozenset[int]:
        """Return the rounds that were begun, by this process or an earlier one."""
        return self.ledger.started_rounds(self.run_id)


def run(
    spec: RunSpec,
    *,
    folder: Path | None,
    progress: Progress | None = None,
    source: RandomSource | None = None,
    warned: Callable[[str], None] | None = None,
) -> Finished:
    """Charge the ledger, run all rounds and return what was released.

    Args:
        spec: what to do.
        folder: run folder for checkpoints; ``None`` keeps nothing on disk (and cannot be resumed).
        progress: told about each stage.
        source: private randomness; only tests and simulations give another one than the system's.
        warned: told each warning before anything is charged.

    Raises:
        BudgetExceeded: the data set's budget does not allow the run; nothing was drawn.
        EvomixError: as the stages say.
    """
    report = progress or (lambda _stage, _done, _total: None)
    source = SystemSource() if source is None else source
    saved = saved_run(spec, folder)
    prepared = load_prepared(folder) if folder is not None and spec.resume and saved is None else None
    if folder is not None and not spec.resume:
        forget_prepared(folder)
    seed = seed_of(spec, saved or prepared)
    spec = replace(spec, seed=seed)
    report("opening the tables", 0, 1)
    inputs = open_inputs(spec, folder=None if folder is None else folder / artifacts.CHECKPOINT, progress=report)
    spec = resolved(replace(spec, method=run_method(spec, inputs)), inputs.modality)
    settings = deciding_settings(spec)
    if before := saved or prepared:
        check_same(before, settings)
    elif folder is not None and inputs.modality.costly:
        save_prepared(folder, settings)
    report("opening the tables", 1, 1)
    rng = np.random.default_rng(seed)
    report("planning", 0, 1)
    made = design(spec, inputs, rng)
    report("planning", 1, 1)
    warnings = (*inputs.warnings, *made.plan.warnings)
    if warned is not None:
        for warning in warnings:
            warned(warning)
    rounds, dataset = _charge(spec, made, settings, saved)
    if saved is None:
        _begin_folder(folder, rounds.run_id, made, spec, settings)
    else:
        made = replace(made, account=restored(saved["mechanism"], made.plan, rounds.begun()))
        if made.counted is None:
            check_state(folder, made.plan, rounds.begun())
    if made.counted is not None:
        count = _curator(made, inputs, rounds, source).count
        state, told_of = count_run(made, count, begun=rounds.begun(), folder=folder, report=report)
    else:
        selection = selection_for(spec, made.selection, inputs.modality)
        state = _evolve(made, inputs, selection, rng, rounds, source, folder, report)
        told_of = votes_warnings(selection, state, made.plan.rounds)
    if not state.next_round:
        raise EnvironmentFailure(
            "every round of this run was begun and interrupted before it was saved, so there is no release to go "
            "on from; what was charged stays spent. Start a new run (without --resume)"
        )
    spec = with_rounds(spec, len(state.released), inputs.modality)
    rounds.ledger.finish_run(rounds.run_id)
    privacy = privacy_record(
        spec,
        made,
        state,
        modality=inputs.modality.kind,
        dataset=dataset,
        run_id=rounds.run_id,
        begun=rounds.begun(),
        secure=source.secure,
    )
    warnings += told_of
    return Finished(spec, inputs, made, state, privacy, warnings, seed, _pooled(made, inputs, state))


def _pooled(made: Design, inputs: Inputs, state: State) -> PooledLaw | None:
    """Return the law of all rounds together, of a run that pools them."""
    if not made.evolution.pooled:
        return None
    return pooled_law(state, inputs.modality.embedder, public_voters=public_voters(inputs))


def _charge(
    spec: RunSpec, made: Design, settings: dict[str, Any], saved: dict[str, Any] | None
) -> tuple[RunRounds, str]:
    """Charge a new run, or make sure that an interrupted one goes on as it was charged; on disk when this returns.

    Returns:
        The ledger's view of the run, and the name that the data set's budget is kept under.
    """
    ledger = Ledger(spec.ledger)
    with withheld("telling the private table apart"):
        digest = fingerprint(spec.private)
    dataset = dataset_name(spec, digest, ledger)
    plan = made.plan
    if saved is None:
        run_id = uuid.uuid4().hex
        ledger.open_run(
            run_id,
            dataset,
            Budget(plan.epsilon, plan.delta),
            fingerprint=digest,
            spec_digest=spec_digest(settings, made.account.describe()),
            unit=unit_in_words(spec),
            adjacency=plan.adjacency,
            grant=None if spec.budget is None else Budget.parse(spec.budget),
            rounds=plan.rounds,
        )
        return RunRounds(ledger, run_id), dataset
    ledger.check_resume(
        saved["run_id"],
        fingerprint=digest,
        spec_digest=spec_digest(settings, saved["mechanism"]),
        epsilon=plan.epsilon,
        delta=plan.delta,
    )
    # The charge stays under the name it was made under, whatever the data set is called now.
    charged = next(entry.dataset for entry in ledger.entries() if entry.run_id == saved["run_id"])
    return RunRounds(ledger, saved["run_id"]), charged


def _curator(made: Design, inputs: Inputs, rounds: RunRounds, source: RandomSource) -> Curator:
    """Return the curator of the rounds that were not begun yet."""
    return Curator(
        inputs.records,
        inputs.modality.embedder,
        made.account,
        first_round=max((index + 1 for index in rounds.begun()), default=0),
        ledger=rounds,
        source=source,
    )


def _evolve(
    made: Design,
    inputs: Inputs,
    selection: Selection,
    rng: np.random.Generator,
    rounds: RunRounds,
    source: RandomSource,
    folder: Path | None,
    report: Progress,
) -> State:
    """Fold over the rounds with the curator behind ``privatise``."""
    modality = inputs.modality
    begun = rounds.begun()
    curator = _curator(made, inputs, rounds, source)
    told: dict[str, Any] = {}  # the public parameters of the release at hand

    def privatise(index: int, candidates: Population) -> Release:
        public, size = public_shares(inputs, candidates, rng), len(candidates)
        mechanism = mechanism_of(
            made.account, made.plan, index, candidates=size, public=public, proximity=made.proximity
        )
        weights = noise_weights(mechanism, size, public=public, proximity=made.proximity)
        release = curator.release(index, candidates, weights, mechanism)
        told.clear()
        told.update(mechanism.describe() | release_of(mechanism, made.account.draws[index]), candidates=size)
        return replace(release, prior=public)

    def saved(index: int, done: Round) -> None:
        if folder is not None:
            artifacts.append_event(folder, {**artifacts.round_event(index, done), **selection.describe(done.release)})
        report("evolving", index + 1, made.plan.rounds)

    report("evolving", 0, made.plan.rounds)
    return evolve(
        made.evolution,
        made.initial,
        generator=modality.generator,
        privatise=privatise,
        select=selection,
        rng=rng,
        checkpoint=None if folder is None else folder / artifacts.CHECKPOINT,
        begun=begun,
        on_round=saved,
        # Parameters that were fixed in advance need no telling; resuming a run must not depend on them.
        describe=(lambda _: dict(told)) if isinstance(made.account, Allowance) else None,
    )


def _begin_folder(folder: Path | None, run_id: str, made: Design, spec: RunSpec, settings: dict[str, Any]) -> None:
    """Write what resuming needs, and forget an earlier run's state in the same folder."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    forget_state(folder / artifacts.CHECKPOINT)
    for old in (artifacts.EVENTS_FILE, artifacts.PRIVACY_FILE, artifacts.REPORT_FILE):
        (folder / old).unlink(missing_ok=True)
    artifacts.save_run(
        folder,
        {
            "run_id": run_id,
            "seed": settings["seed"],
            "mechanism": made.account.describe(),
            "plan": made.plan.to_dict(),
            "settings": settings,
            "out": None if spec.out is None else str(spec.out.resolve()),
        },
    )
