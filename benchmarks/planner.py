"""Does the planner say beforehand, from public data alone, which mechanism will serve best?

    python benchmarks/planner.py --data FOLDER

FOLDER holds acs_pums_2018/acs2018_14states.parquet (person records of 14 states, ACS PUMS 2018, U.S. Census Bureau) and
adult/adult_train.parquet, adult/adult_test.parquet (UCI). Votes are shares of the cells of a few columns that occur in
the public rows; private rows in other cells count as one more. States: one is private, the others are public, as 13
histograms, as their mean with γ between them, and as their mean without γ. Adult: the training part is private; public
are the test part, and only its people under 30, with γ between five random parts.

The planner sees public histograms, n, ε, δ and the number of draws. Then the mechanisms are simulated on the private
votes, which costs ε = ∞ and is for a benchmark only.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from evomix import privacy
from evomix.experiment.allocation import default_delta
from evomix.experiment.comparison import TIE
from evomix.experiment.forecast import VotesRelease, forecast
from evomix.experiment.noise_choice import MixtureBudget, choose_noise, uniform_choice
from evomix.experiment.planning import plan
from evomix.experiment.stand_ins import StandIn, public_votes
from measuring import markdown, publish

ACS_COLUMNS = (["RAC1P", "SEX", "MAR", "ENG"], ["RAC1P", "SEX", "COW", "MAR", "SCHL", "DIS", "ENG"])
# The two most unlike their fellows (HI, NM), and by size the largest, the smallest and one between.
PRIVATE_STATES = ("HI", "NM", "NE", "WY", "ND")
ADULT_COLUMNS = (
    ["education", "marital_status", "race", "sex", "income"],
    ["workclass", "education", "marital_status", "occupation", "relationship", "race", "sex", "income"],
)
EPSILONS = (1.0, 4.0)
DRAWS = (0.1, 1.0)  # as parts of n
MECHANISMS = ("linmix", "gaussian", "pubmix")


@dataclass(frozen=True)
class Case:
    name: str
    knowledge: str
    n: int
    votes: np.ndarray
    histograms: list
    proximity: float | str


def cells_of(table, columns):
    return table[columns].astype("string").fillna("missing").agg("|".join, axis=1).to_numpy()


def shares(keys, cells):
    position = {cell: index for index, cell in enumerate(cells)}
    return np.bincount([position.get(key, len(cells)) for key in keys], minlength=len(cells) + 1) / len(keys)


def acs_cases(folder):
    people = pd.read_parquet(folder / "acs_pums_2018" / "acs2018_14states.parquet")
    states = people["state"].to_numpy()
    for columns in ACS_COLUMNS:
        keys = cells_of(people, columns)
        for private in PRIVATE_STATES:
            cells = np.unique(keys[states != private])
            public = [shares(keys[states == one], cells) for one in np.unique(states) if one != private]
            votes = shares(keys[states == private], cells)
            n, name = int((states == private).sum()), f"{private}, {len(cells) + 1} cells"
            gamma = privacy.proximity(public)
            yield Case(name, "13 histograms", n, votes, public, "auto")
            yield Case(name, "their mean, γ given", n, votes, [np.mean(public, axis=0)], gamma)
            yield Case(name, "their mean, γ unknown", n, votes, [np.mean(public, axis=0)], "auto")


def adult_cases(folder):
    private, public = (pd.read_parquet(folder / "adult" / f"adult_{part}.parquet") for part in ("train", "test"))
    rng = np.random.default_rng(0)
    for columns in ADULT_COLUMNS:
        for name, rows in (("Adult", public), ("Adult, young public", public[public["age"] < 30])):
            keys = cells_of(rows, columns)
            cells = np.unique(keys)
            parts = np.array_split(rng.permutation(keys), 5)
            gamma = privacy.proximity([shares(part, cells) for part in parts])
            votes = shares(cells_of(private, columns), cells)
            yield Case(
                f"{name}, {len(cells) + 1} cells",
                "one histogram, γ of folds",
                len(private),
                votes,
                [shares(keys, cells)],
                gamma,
            )


def what_happens(case, budget, objective, seeds):
    """Return the error of each mechanism on the private votes: mean over seeds."""
    public = public_votes(case.histograms, case.proximity)
    truth = [StandIn(case.votes, public.pooled)]
    stddev = privacy.gaussian_stddev(budget.epsilon, budget.delta, rounds=budget.rounds, adjacency="replace-one")
    releases = {
        "linmix": uniform_choice(public.candidates, budget, public).release(budget),
        "gaussian": VotesRelease(stddev, budget.round_draws, budget.units),
        "pubmix": choose_noise(budget, public, objective).release(budget),
    }
    found = {name: forecast(one, truth, repeats=seeds, seed=1) for name, one in releases.items()}
    return {name: one.draws_tv if objective == "draws" else one.estimate_tv for name, one in found.items()}


def judge(case, epsilon, part, objective, seeds):
    draws = max(round(part * case.n), 1)
    budget = MixtureBudget(case.n, epsilon, default_delta(case.n), draws, 1)
    start = time.process_time()
    made = plan(
        n=case.n,
        epsilon=epsilon,
        rounds=1,
        draws=draws,
        public_histogram=case.histograms if len(case.histograms) > 1 else case.histograms[0],
        proximity=case.proximity,
        objective=objective,
    )
    spent = time.process_time() - start
    seen = {one.mechanism: one.missed(objective) for one in made.comparison}
    real = what_happens(case, budget, objective, seeds)
    mixtures = ("linmix", "pubmix")
    chosen = min(mixtures, key=lambda name: seen[name] * (1.0 + TIE * (name == "pubmix")))
    return {
        "case": case.name,
        "knowledge": case.knowledge,
        "distance": 0.5 * float(np.abs(case.votes - np.mean(case.histograms, axis=0)).sum()),
        "gamma": made.proximity,
        "epsilon": epsilon,
        "draws": draws,
        "objective": objective,
        "recommended": made.recommended,
        "best": min(real, key=real.get),
        "regret": real[made.recommended] / min(real.values()) - 1.0,
        "mixture_regret": real[chosen] / min(real[name] for name in mixtures) - 1.0,
        "error": max(abs(seen[name] - real[name]) for name in MECHANISMS),
        "real": real,
        "seen": seen,
        "seconds": spent,
    }


def hit_rates(found):
    groups = {}
    for one in found:
        kind = "ACS" if "Adult" not in one["case"] else "Adult"
        groups.setdefault((one["objective"], kind, one["knowledge"]), []).append(one)
    for (objective, kind, knowledge), some in groups.items():
        hits = sum(one["regret"] <= TIE for one in some)
        mixture_hits = sum(one["mixture_regret"] <= TIE for one in some)
        within = [one for one in some if one["distance"] <= one["gamma"]]
        near = sum(one["regret"] <= TIE for one in within)
        yield [
            objective,
            kind,
            knowledge,
            f"{hits}/{len(some)}",
            f"{near}/{len(within)}",
            f"{mixture_hits}/{len(some)}",
            f"{100 * np.mean([one['regret'] for one in some]):.1f} %",
            f"{100 * max(one['regret'] for one in some):.0f} %",
            f"{np.median([one['error'] for one in some]):.3f}",
        ]


def misses(found):
    for one in sorted(found, key=lambda one: -one["regret"]):
        if one["regret"] > TIE:
            figures = [f"{one['seen'][name]:.3f} / {one['real'][name]:.3f}" for name in MECHANISMS]
            yield [
                one["objective"],
                one["case"],
                one["knowledge"],
                f"{one['distance']:.2f} ({one['gamma']:.2f})",
                one["epsilon"],
                one["draws"],
                one["recommended"],
                one["best"],
                f"{100 * one['regret']:.0f} %",
                *figures,
            ]


def winners(found):
    """Count which mechanism is best in truth: one knowledge, so that no case counts twice."""
    for objective in ("draws", "estimate"):
        for part in DRAWS:
            some = [
                one
                for one in found
                if one["objective"] == objective
                and one["part"] == part
                and one["knowledge"] in ("13 histograms", "one histogram, γ of folds")
            ]
            yield [objective, f"{part:g} n", *(sum(one["best"] == name for one in some) for name in MECHANISMS)]


def noise_for_the_estimate(found):
    """Compare the estimate under the noise that is chosen for it, the noise of least worst case, and uniform noise."""
    for epsilon in EPSILONS:
        some = [one for one in found if one["objective"] == "estimate" and one["epsilon"] == epsilon]
        ratios = {
            "chosen for the estimate": [one["real"]["pubmix"] / one["real"]["linmix"] for one in some],
            "least worst case": [one["designed"] / one["real"]["linmix"] for one in some],
        }
        for name, values in ratios.items():
            yield [f"{epsilon:g}", name, f"{np.mean(values):.3f}", f"{min(values):.3f}", f"{max(values):.3f}"]


def insight():
    for candidates in (500, 5000, 20_000):
        made = plan(n=107_237, epsilon=1.0, draws=5000, candidates=candidates, mechanism="linmix", rounds=1)
        yield [f"{candidates:,}", f"{made.mixing_weight:.3f}", f"{made.signal:.0f}", f"{made.useful_candidates:,}"]


def full_plans():
    rng = np.random.default_rng(0)
    base = rng.dirichlet(np.full(20_000, 0.1))
    several = [0.7 * base + 0.3 * rng.dirichlet(np.full(20_000, 0.1)) for _ in range(3)]
    for name, given in (("none", None), ("one", base), ("three", several)):
        for objective in ("draws", "estimate") if given is not None else ("draws",):
            start, busy = time.perf_counter(), time.process_time()
            extra = {} if given is None else {"public_histogram": given, "objective": objective, "mechanism": "pubmix"}
            made = plan(n=10**7, epsilon=1.0, rounds=4, trade_off=True, **extra)
            busy, spent = time.process_time() - busy, time.perf_counter() - start
            yield [name, objective, f"{made.candidates:,}", len(made.trade_off), f"{busy:.2f} s", f"{spent:.2f} s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--seeds", type=int, default=8)
    asked = parser.parse_args()
    found = []
    for case in [*acs_cases(asked.data), *adult_cases(asked.data)]:
        for epsilon in EPSILONS:
            for part in DRAWS:
                for objective in ("draws", "estimate"):
                    one = judge(case, epsilon, part, objective, asked.seeds) | {"part": part}
                    if objective == "estimate":
                        budget = MixtureBudget(case.n, epsilon, default_delta(case.n), max(round(part * case.n), 1), 1)
                        public = public_votes(case.histograms, case.proximity)
                        release = choose_noise(budget, public, "draws").release(budget)
                        truth = [StandIn(case.votes, public.pooled)]
                        one["designed"] = forecast(release, truth, repeats=asked.seeds, seed=1).estimate_tv
                    found.append(one)
    publish(
        "planner",
        f"Of {', '.join(MECHANISMS)}: one round, replace-one, δ = min(1e-6, 1/(n ln n)), {asked.seeds} seeds. "
        f"A hit is a recommendation whose error on the private votes is within {100 * TIE:g} % of the least.",
        markdown(
            [
                "objective",
                "data",
                "public knowledge",
                "hits",
                "hits where TV ≤ γ",
                "hits, pubmix or linmix",
                "mean regret",
                "largest regret",
                "median error of the forecast (TV)",
            ],
            list(hit_rates(found)),
        ),
        "How often each was the best on the private votes:",
        markdown(["objective", "draws", *MECHANISMS], list(winners(found))),
        "TV of the denoised estimate under pubmix's noise, as a part of that under uniform noise:",
        markdown(["ε", "noise", "mean", "least", "largest"], list(noise_for_the_estimate(found))),
        "The misses (forecast / what happened):",
        markdown(
            [
                "objective",
                "private",
                "public knowledge",
                "TV of private and public (γ)",
                "ε",
                "draws",
                "recommended",
                "best",
                "regret",
                *MECHANISMS,
            ],
            list(misses(found)),
        ),
        f"A plan with its comparison took {np.mean([one['seconds'] for one in found]):.2f} s of CPU on average, "
        f"{max(one['seconds'] for one in found):.2f} s at most.",
        "Resolution costs (n = 107,237, ε = 1, 5,000 draws, uniform noise):",
        markdown(["candidates", "β", "noise-free draws", "told apart"], list(insight())),
        "A full plan with its trade-off curve at n = 10⁷; asked for: 2 s:",
        markdown(["public histograms", "objective", "candidates", "points", "CPU", "wall time"], list(full_plans())),
        command="python benchmarks/planner.py --data FOLDER",
    )


if __name__ == "__main__":
    main()
