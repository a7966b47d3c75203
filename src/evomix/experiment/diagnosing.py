"""``evomix diagnose public``: how near public data are, from public data alone.

γ steers usefulness only. What is found here costs no privacy, and no private file is opened.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from evomix.core.arguments import whole
from evomix.core.arrays import FloatArray, Population
from evomix.core.errors import SchemaError, SpecError
from evomix.experiment.comparison import compare
from evomix.experiment.design import FOLDS, PUBLIC_VOTERS, public_shares
from evomix.experiment.histogram_file import check_histogram_place, write_histograms
from evomix.experiment.noise_choice import ChosenNoise, MixtureBudget, designed_choice, uniform_choice, uniform_distance
from evomix.experiment.per_round import MOST_CANDIDATES
from evomix.experiment.planning import plan
from evomix.experiment.public_distance import Apart, ColumnApart, apart, columns_apart, group_votes, voters_of_sets
from evomix.experiment.public_side import PublicSide, open_public
from evomix.experiment.spec import check_counts, check_proximity
from evomix.experiment.stand_ins import PublicVotes
from evomix.modalities.tabular.domain import domain_size
from evomix.privacy.worst_case import psi_upper

CANDIDATES: Final = 1000
"""Candidates when there is no budget from which a run would choose their number."""
HELPS: Final = 0.05
"""Public data help the noise if they lower the worst case of the draws by more than this part of uniform noise's."""
COLUMNS: Final = 5


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What public data say of themselves.

    Attributes:
        candidates: the candidates that a run would begin with.
        shares: float64 (d,), the public votes for them; sums to 1.
        histograms: float64 (k, d), those of each public table; of one table ``shares``.
        budget: what fixes the share of noise; ``None`` without n and ε.
        told: everything for the user, in plain values.
    """

    candidates: Population
    shares: FloatArray
    histograms: FloatArray
    budget: MixtureBudget | None
    told: dict[str, Any]


def diagnose_public(
    public: Sequence[Any],
    *,
    schema: Any = None,
    unit: str | None = None,
    n: int | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    candidates: int | None = None,
    proximity: float | str = "auto",
    seed: int = 0,
    public_encoding: str = "utf-8",
    histogram_out: Path | None = None,
) -> dict[str, Any]:
    """Say how near public data are to one another, and whether noise shaped by them would serve a run.

    Args:
        public: one table or several.
        schema: of the columns; by default that of the public rows.
        unit: column that names the private unit, if the tables have it; never modelled.
        n: private units of the run that is thought of; together with ``epsilon``.
        epsilon: ε of that run.
        delta: δ of that run.
        candidates: most candidates d; default as the run would have, else 1000.
        proximity: γ to judge the noise at; "auto" is what is found.
        seed: of the public randomness.
        public_encoding: of text files.
        histogram_out: where to write the public votes' shares, as a plan's ``public_histogram`` takes them.

    Raises:
        SpecError: a setting is out of range or lacks its partner, a table is given twice, or the file cannot be made.
        SchemaError: there are no public rows, or names or types do not agree.
        InputFileError: a file cannot be read.
    """
    if not public:
        raise SpecError("name at least one public table")
    if histogram_out is not None:
        check_histogram_place(histogram_out)
    side = open_public(public, schema, unit=unit, encoding=public_encoding)
    found = diagnose(side, n=n, epsilon=epsilon, delta=delta, candidates=candidates, proximity=proximity, seed=seed)
    if histogram_out is not None:
        write_histograms(found.histograms, histogram_out)
    return found.told


def diagnose(
    side: PublicSide,
    *,
    n: int | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    candidates: int | None = None,
    proximity: float | str = "auto",
    seed: int = 0,
) -> Diagnosis:
    """Return the diagnosis of a public side that was read; arguments and errors as :func:`diagnose_public`."""
    seed = check_counts({"seed": seed})["seed"] or 0
    if candidates is not None:
        candidates = whole("candidates", candidates, least=1, most=MOST_CANDIDATES)
    check_proximity(proximity)
    if side.modality.public is None:
        raise SchemaError("the public table has no rows, so there is nothing to measure")
    budget, most = _budget(side, n=n, epsilon=epsilon, delta=delta, candidates=candidates)
    rng = np.random.default_rng(seed)
    first = side.modality.first(most, rng)
    shares = public_shares(side, first, rng)
    assert shares is not None
    found, columns, histograms = _measured(side, first, rng)
    gamma = float(proximity) if not isinstance(proximity, str) else 1.0 if found is None else found.distance
    several = len(side.sets) > 1
    told = {
        "public_rows": list(side.sets),
        "from": "tables" if several else "folds",
        "candidates": len(first),
        "proximity": gamma,
        "measured_proximity": None if found is None else found.distance,
        "sampling": None if found is None else found.sampling,
        # Folds of one table have one law: what is between them is sampling, and nothing is left to correct.
        "corrected": found.corrected if several and found is not None else None,
        "columns": [{"name": one.name, **asdict(one.apart)} for one in columns[:COLUMNS]],
        **judged(shares, gamma, budget, histograms=histograms),
        "seed": seed,
    }
    told["warnings"] = [*side.warnings, *_warnings(told)]
    if budget is None and candidates is None and len(first) == CANDIDATES:
        told["warnings"].append(
            f"γ grows with the candidates, and {CANDIDATES} were assumed: give n and epsilon of the run, or candidates"
        )
    return Diagnosis(first, shares, shares[np.newaxis] if histograms is None else histograms, budget, told)


def judged(
    shares: FloatArray, proximity: float, budget: MixtureBudget | None, *, histograms: FloatArray | None = None
) -> dict[str, Any]:
    """Return how noise that is shaped by the public votes compares with uniform noise, at worst, and the forecast.

    The worst case is that of raw draws. A run denoises, so with a budget the estimate is forecast too, as a plan does.

    With a budget by β·Ψ, the largest part of the draws that can be away from the votes. Without one, β is not known and
    Ψ of the public votes themselves is taken, which no floor allows: shaped noise may help if that helps.

    Args:
        shares: float64 (d,), public votes.
        proximity: γ.
        budget: what fixes the share of noise.
        histograms: float64 (k, d), the votes of each of several public tables, which a forecast then rests on; default
            ``shares``, moved by γ.
    """
    public = PublicVotes((shares,), proximity)
    seen = public if histograms is None else PublicVotes(tuple(histograms), proximity)
    if budget is None:
        worst = {
            "pubmix": psi_upper(shares, public=shares, proximity=proximity),
            "linmix": uniform_distance(public.candidates, public),
        }
        figures: dict[str, Any] = {}
    else:
        chosen = {
            "pubmix": designed_choice(budget, public),
            "linmix": uniform_choice(public.candidates, budget, public),
        }
        worst = {name: one.worst_case_tv for name, one in chosen.items()}
        figures = {name: _figures(one) for name, one in chosen.items()} | {
            "n": budget.n,
            "epsilon": budget.epsilon,
            "delta": budget.delta,
            "draws": budget.draws,
            "rounds": budget.rounds,
            **_forecast(budget, seen, chosen["pubmix"]),
        }
    gain = max(1.0 - worst["pubmix"] / worst["linmix"], 0.0) if worst["linmix"] > 0.0 else 0.0
    better = "pubmix" if gain > HELPS else "linmix"
    return {
        **figures,
        "gain": gain,
        "too_far": better == "linmix",
        "better": better,
        "verdict": f"worst case of raw draws: {_verdict(worst, gain, better, proximity, known=budget is not None)}",
    }


def _budget(
    side: PublicSide, *, n: int | None, epsilon: float | None, delta: float | None, candidates: int | None
) -> tuple[MixtureBudget | None, int]:
    """Return what fixes the share of noise, and the most candidates, both as a run would have them."""
    if (n is None) != (epsilon is None) or (delta is not None and epsilon is None):
        raise SpecError("the noise of a run rests on n and epsilon: give both (--n, --epsilon), or neither")
    if n is None or epsilon is None:
        return None, CANDIDATES if candidates is None else candidates
    planned = plan(
        n=n,
        epsilon=epsilon,
        delta=delta,
        candidates=candidates,
        mechanism="pubmix",
        domain_size=domain_size(side.schema),
        informed=True,
    )
    total = sum(planned.draws)
    return MixtureBudget(n, planned.epsilon, planned.delta, total, planned.rounds), planned.per_round[0].candidates


def _measured(
    side: PublicSide, candidates: Population, rng: np.random.Generator
) -> tuple[Apart | None, tuple[ColumnApart, ...], FloatArray | None]:
    """Return the distance between public tables, or folds of one, also by column, and the votes of several tables.

    There is no distance of a table with too few rows for folds.
    """
    rows, groups = voters_of_sets(side, most=PUBLIC_VOTERS, rng=rng)
    if len(side.sets) == 1:
        if len(rows) < 2 * FOLDS:
            return None, (), None
        groups = rng.permutation(np.arange(len(rows)) % FOLDS)
    votes = side.modality.embedder.index(candidates).nearest(rows)
    histograms = group_votes(votes, groups, len(candidates)) if len(side.sets) > 1 else None
    return apart(votes, groups, rng=rng), columns_apart(side, rows, groups, rng=rng), histograms


def _forecast(budget: MixtureBudget, public: PublicVotes, shaped: ChosenNoise) -> dict[str, Any]:
    """Return what the denoised estimate of each mechanism should miss."""
    seen = compare(budget, public, objective="estimate", chosen=shaped)
    return {
        "estimate_tv": {one.mechanism: one.estimate_tv for one in seen.compared},
        "recommended": seen.recommended,
        "forecast": seen.finding,
    }


def _figures(one: ChosenNoise) -> dict[str, float]:
    return {"worst_case_tv": one.worst_case_tv, "mixing_weight": one.mixing_weight, "floor": one.floor}


def _verdict(worst: dict[str, float], gain: float, better: str, proximity: float, *, known: bool) -> str:
    """Return the sentence that says which mechanism's raw draws have the better worst case, and by how much."""
    at, ours, theirs = f"γ = {proximity:.3g}", f"{100 * worst['pubmix']:.3g} %", f"{100 * worst['linmix']:.3g} %"
    if known and better == "pubmix":
        return (
            f"pubmix is better at {at}: at worst {ours} of its draws are not where the votes are, {theirs} of linmix's"
        )
    if known:
        return (
            f"linmix is as good at {at} and leans on nothing: at worst {theirs} of its draws are not where the votes "
            f"are, {ours} of pubmix's ({100 * gain:.2g} % less)"
        )
    if better == "pubmix":
        return (
            f"pubmix may be better at {at}: noise like the public votes misses at most {ours} of the votes, uniform "
            f"noise {theirs}; how much of it a run would keep, and what its estimate would miss, needs n and epsilon"
        )
    return (
        f"linmix is as good at {at}: noise like the public votes misses at most {ours} of the votes, uniform {theirs}"
    )


def _warnings(told: dict[str, Any]) -> Iterator[str]:
    """Yield what the figures do not say by themselves."""
    if told["too_far"]:
        yield (
            f"public data are too far (γ = {told['proximity']:.3g}) to help the noise: it lowers the worst case by "
            f"{100 * told['gain']:.2g} %, not by more than {100 * HELPS:.0f} %. They still serve as first candidates"
        )
    if told["from"] == "folds":
        yield (
            "one public table shows only how much its own rows scatter (all of γ here is sampling), not how far other "
            "people are from it; give a second table of another place or time, or measure it (--private)"
        )
    elif told["measured_proximity"] and told["sampling"] > told["measured_proximity"] / 2:
        yield (
            f"more than half of the measured γ ({told['sampling']:.3g} of {told['measured_proximity']:.3g}) is what "
            "samples of one law would show; more public rows or fewer candidates tell more"
        )
