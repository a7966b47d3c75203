"""The content of privacy.json: the guarantee of a run, and the public parameters it rests on."""

from collections.abc import Collection
from typing import Any

from evomix.evolution.state import State
from evomix.experiment import artifacts
from evomix.experiment.accounts import Account
from evomix.experiment.design import Design
from evomix.experiment.identity import MEMORY, unit_in_words
from evomix.experiment.plans import Plan
from evomix.experiment.spec import RunSpec
from evomix.privacy.mechanisms.allowance import Allowance
from evomix.privacy.mechanisms.schedule import common_figures

_OF_A_RELEASE = ("round", "mechanism", "candidates", "draws", "mixing_weight", "floor", "stddev", "scale")


def privacy_record(
    spec: RunSpec,
    made: Design,
    state: State,
    *,
    modality: str,
    dataset: str,
    run_id: str,
    begun: Collection[int],
    secure: bool,
) -> dict[str, Any]:
    """Return the content of privacy.json; all of it is public.

    Args:
        spec: the resolved specification.
        made: plan and account.
        state: the last public state.
        modality: what a record is.
        dataset: the name that the budget is kept under.
        run_id: the charged run.
        begun: rounds that were begun.
        secure: whether the private randomness came from the operating system.
    """
    plan = made.plan
    return {
        "private": secure,
        "epsilon": plan.epsilon,
        "delta": plan.delta,
        "adjacency": plan.adjacency,
        "unit": unit_in_words(spec),
        "unit_column": spec.unit,
        "n": plan.n,
        "method": plan.method,
        "mechanism": plan.mechanism,
        **_figures(made.account, state),
        "releases": releases_of(made.account, plan, state),
        "rounds": plan.rounds,
        "draws_per_round": list(plan.draws),
        "begun_rounds": sorted(begun),
        **(_of_votes(spec, made) if made.counted is None else {"start": made.counted.table.start}),
        "public_data": spec.public is not None,
        "modality": modality,
        "seed": spec.seed,
        "dataset": "a table in memory" if dataset.startswith(MEMORY) else dataset,
        "run_id": run_id,
        "charges": [{"run_id": run_id, "epsilon": plan.epsilon, "delta": plan.delta}],
        "software": artifacts.software(),
        "last_saved_round": state.next_round - 1,
    }


def releases_of(account: Account, plan: Plan, state: State) -> list[dict[str, Any]]:
    """Return the parameters of every round's release, those of a mixture or those of a histogram.

    ``candidates`` are the most that were accounted for; counts state their column sets instead. Where a round's
    parameters were chosen as it came, the list has the rounds that were released, each with its index and its share of
    the budget; a round that was begun and is missing was lost, and counts with its share.
    """
    if isinstance(account, Allowance):
        return [
            {key: told[key] for key in _OF_A_RELEASE if key in told} | {"share": account.shares[int(told["round"])]}
            for told in state.told
        ]
    stated = [
        {"mechanism": one.mechanism, "candidates": one.candidates}
        if one.counted is None
        else {"mechanism": one.mechanism, "counted": one.counted, "column_sets": one.blocks}
        for one in plan.per_round
    ]
    return [known | release for known, release in zip(stated, account.describe()["releases"], strict=True)]


def _of_votes(spec: RunSpec, made: Design) -> dict[str, Any]:
    """Return what only a run with votes has."""
    return {
        "candidates": made.plan.candidates,
        "proximity": made.proximity if "pubmix" in made.plan.mechanism else None,
        "selection": made.selection,
        "threshold": spec.threshold,
        "radius": spec.radius,
        "denoising": spec.denoising,
        "schedule": spec.schedule,
    }


def _figures(account: Account, state: State) -> dict[str, Any]:
    """Return the figures of the whole run; one that rounds do not share is ``None``."""
    figures = account.describe()
    if isinstance(account, Allowance):
        apart = {"round", "mechanism", "candidates", "draws"}
        figures = common_figures([{k: v for k, v in one.items() if k not in apart} for one in state.told]) | figures
    return {name: value for name, value in figures.items() if name != "releases"}
