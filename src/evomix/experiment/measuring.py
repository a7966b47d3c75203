"""The paid measurement: how far the private votes lie from the public ones, for a stated ε.

One release, charged like a run: the ledger has the charge and the begun release on disk before a private row is read.
"""

import uuid
from pathlib import Path
from typing import Any, Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.curator.distance import release_distance
from evomix.curator.guard import withheld
from evomix.experiment import artifacts
from evomix.experiment.design import PUBLIC_VOTERS
from evomix.experiment.diagnosing import Diagnosis, diagnose, judged
from evomix.experiment.engine import RunRounds
from evomix.experiment.histogram_file import check_histogram_place, write_histograms
from evomix.experiment.identity import MEMORY, dataset_name, fingerprint, spec_digest, unit_in_words
from evomix.experiment.inputs import Inputs, open_inputs
from evomix.experiment.spec import RunSpec
from evomix.privacy.budget import Budget
from evomix.privacy.ledger import Ledger
from evomix.privacy.mechanisms.distance import CONFIDENCE, MeasuredDistance, NoisyDistance

ADJACENCY: Final = "replace-one"
_SIMULATIONS: Final = 20


def measure_public(
    private: Any,
    public: Any,
    *,
    epsilon_test: float,
    schema: Any = None,
    unit: str | None = None,
    dataset: str | None = None,
    budget: str | None = None,
    ledger: Path | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    candidates: int | None = None,
    seed: int = 0,
    encoding: str = "utf-8",
    public_encoding: str = "utf-8",
    histogram_out: Path | None = None,
) -> dict[str, Any]:
    """Release the total variation between private and public votes, and say what it means for a run.

    Guarantee: (ε_test, 0)-DP per private unit under replace-one, charged to the data set's ledger before a private row
    is read; proof: docs/proofs/distance.md. What is said besides is post-processing, or public.

    Args:
        private: the private table, a path or a frame.
        public: one public table or a list of several.
        epsilon_test: ε of this release.
        schema: of the columns; by default that of the public rows.
        unit: column that names the private unit; by default each row is one.
        dataset: the name that the ledger keeps the budget under.
        budget: "EPSILON:DELTA" of the data set over all runs.
        ledger: the ledger's file.
        epsilon: ε of a later run, for which the mechanisms are compared.
        delta: δ of that run.
        candidates: most candidates d; default as that run would have. This or ``epsilon`` is needed: the distance grows
            with d, so one that was measured on fewer candidates than the run has would be too small a γ for it.
        seed: of the public randomness.
        encoding: of a private text file.
        public_encoding: of public text files.
        histogram_out: where to write the public votes' shares, before anything is charged.

    Raises:
        SpecError: there are no public rows, or neither epsilon nor candidates; nothing was charged.
        BudgetExceeded: the data set's budget does not allow the measurement; nothing was read or charged.
        EvomixError: as a run's inputs; what was charged stays charged.
    """
    if public is None:
        raise SpecError("a distance needs public rows: name at least one public table")
    if epsilon is None and candidates is None:
        raise SpecError(
            "candidates are missing: a distance grows with their number, so it is measured on as many as the run will "
            "have. Give the run's epsilon (--epsilon), from which they follow, or candidates (--candidates)"
        )
    if histogram_out is not None:
        check_histogram_place(histogram_out)
    spec = RunSpec(
        private=private,
        public=public,
        epsilon=epsilon_test,
        schema=schema,
        unit=unit,
        dataset=dataset,
        budget=budget,
        ledger=ledger,
        seed=seed,
        encoding=encoding,
        public_encoding=public_encoding,
    )
    inputs = open_inputs(spec)
    mechanism = NoisyDistance.calibrate(spec.epsilon, units=inputs.records.units)
    found = diagnose(
        inputs,
        n=None if epsilon is None else mechanism.units,
        epsilon=epsilon,
        delta=delta,
        candidates=candidates,
        seed=seed,
    )
    if histogram_out is not None:
        write_histograms(found.histograms, histogram_out)
    released, charge = _release(spec, inputs, found, mechanism)
    return found.told | {"measured": _told(spec, found, mechanism, released) | charge}


def _release(
    spec: RunSpec, inputs: Inputs, found: Diagnosis, mechanism: NoisyDistance
) -> tuple[MeasuredDistance, dict[str, Any]]:
    """Charge, release, close; return the release, and what was charged under which name."""
    ledger, run_id = Ledger(spec.ledger), uuid.uuid4().hex
    with withheld("telling the private table apart"):
        digest = fingerprint(spec.private)
    dataset = dataset_name(spec, digest, ledger)
    ledger.open_run(
        run_id,
        dataset,
        Budget(mechanism.epsilon, mechanism.delta),
        fingerprint=digest,
        spec_digest=spec_digest({"candidates": len(found.candidates)}, mechanism.describe()),
        unit=unit_in_words(spec),
        adjacency=ADJACENCY,
        grant=None if spec.budget is None else Budget.parse(spec.budget),
        rounds=1,
    )
    released = release_distance(
        inputs.records,
        inputs.modality.embedder,
        found.candidates,
        found.shares,
        mechanism,
        ledger=RunRounds(ledger, run_id),
    )
    ledger.finish_run(run_id)
    return released, {
        "dataset": "a table in memory" if dataset.startswith(MEMORY) else dataset,
        "run_id": run_id,
        "charges": [{"run_id": run_id, "epsilon": mechanism.epsilon, "delta": mechanism.delta}],
    }


def _told(spec: RunSpec, found: Diagnosis, mechanism: NoisyDistance, released: MeasuredDistance) -> dict[str, Any]:
    """Return the release with the public figures it rests on and what follows from it; as in privacy.json."""
    voters = min(sum(found.told["public_rows"]), PUBLIC_VOTERS)
    return {
        "private": True,  # the noise comes from the operating system; there is no other way here
        "epsilon": mechanism.epsilon,
        "delta": mechanism.delta,
        "adjacency": ADJACENCY,
        "unit": unit_in_words(spec),
        "unit_column": spec.unit,
        "n": mechanism.units,
        "candidates": len(found.candidates),
        "mechanism": mechanism.name,
        **mechanism.describe(),
        "distance": released.estimate,
        "interval": [released.low, released.high],
        "confidence": CONFIDENCE,
        "sampling": _sampling(found.shares, voters, mechanism.units, seed=found.told["seed"]),
        "proximity": released.high,
        "judged": judged(found.shares, released.high, found.budget),
        "software": artifacts.software(),
    }


def _sampling(shares: FloatArray, voters: int, units: int, *, seed: int) -> float:
    """Return the mean distance of two samples of the public votes' law, one as large as each side.

    For people with several rows it says too little: their votes scatter more than those of as many single rows.
    """
    rng = np.random.default_rng(seed)
    ours, theirs = (rng.multinomial(size, shares, size=_SIMULATIONS) / size for size in (voters, units))
    return float(np.abs(ours - theirs).sum(axis=1).mean()) / 2.0
