"""Where uniform noise beats noise shaped by public votes, is that said beforehand?

    python benchmarks/linmix_or_pubmix.py --data FOLDER

FOLDER holds acs_pums_2018/acs2018_14states.parquet. Every ordered pair of states, one private and one public, seven
columns, ε = 5, δ = 1/n, m = n/10 rows, as in `evomix reproduce pubmix-fig4`. What happens is measured on real private
votes, which costs ε = ∞ and is for a benchmark only. The forecast sees public votes, n, ε, δ, m and γ, from one of

* pairs: the mean distance between pairs of states other than the private one (the paper's way);
* own: the mean distance of the *chosen* public state from the others, the private one left out;
* measured: the true distance, which `evomix diagnose public --private` releases for a small ε, nearly exactly.
"""

import argparse
from pathlib import Path

import numpy as np

from evomix.experiment.comparison import TIE, compare
from evomix.experiment.noise_choice import MixtureBudget
from evomix.experiment.stand_ins import public_votes
from evomix.reproduction.census import histogram, read_states
from evomix.reproduction.distance_curves import LINMIX, PUBMIX, all_ordered_pairs, middle
from evomix.reproduction.releases import total_variation
from evomix.reproduction.state_pairs import pairs_of
from measuring import markdown, publish

WAYS = ("pairs", "own", "measured")


def forecast(pair, proximity):
    """Return the mixing mechanism that is forecast to be nearer in rows, uniform noise in a tie, and both distances."""
    budget = MixtureBudget(pair.budget.n, pair.budget.epsilon, pair.budget.delta, middle(pair), 1)
    verdict = compare(budget, public_votes(pair.public_votes, proximity), objective="draws")
    missed = {one.mechanism: one.draws_tv for one in verdict.compared}
    return "linmix" if missed["linmix"] <= missed["pubmix"] * (1.0 + TIE) else "pubmix"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    states = read_states(parser.parse_args().data / "acs_pums_2018" / "acs2018_14states.parquet")
    votes = {name: histogram(cells) for name, cells in states.cells.items()}
    happened = {(line["private"], line["public"]): line for line in all_ordered_pairs(states, drawn=True)}
    hits, lines = {way: {"linmix": [], "pubmix": []} for way in WAYS}, []
    for (private, public), line in happened.items():
        (pair,) = pairs_of(states, private, (public,))
        others = [name for name in votes if name not in (private, public)]
        own = float(np.mean([total_variation(votes[public], votes[name]) for name in others]))
        gammas = dict(zip(WAYS, (pair.proximity, own, pair.distance), strict=True))
        said = {way: forecast(pair, gamma) for way, gamma in gammas.items()}
        best = "linmix" if line[LINMIX] < line[PUBMIX] else "pubmix"
        for way in WAYS:
            hits[way][best].append(said[way] == best)
        if best == "linmix":
            figures = [f"{value:.3f}" for value in (*gammas.values(), line[LINMIX], line[PUBMIX])]
            lines.append([private, public, *figures, *(said[way] for way in WAYS)])
    table = [
        [way, *(f"{sum(hits[way][best])} of {len(hits[way][best])}" for best in ("linmix", "pubmix"))] for way in WAYS
    ]
    publish(
        "linmix_or_pubmix",
        "LinMix or PubMix, said beforehand",
        "Pairs of states for which the forecast named the mixing mechanism whose rows then were nearer to the votes:",
        markdown(["γ", "where linmix was nearer", "where pubmix was nearer"], table),
        "The pairs where linmix was nearer:",
        markdown(
            [
                "private",
                "public",
                *(f"γ, {way}" for way in WAYS),
                "TV linmix",
                "TV pubmix",
                *(f"said, {way}" for way in WAYS),
            ],
            lines,
        ),
        command="python benchmarks/linmix_or_pubmix.py --data FOLDER",
    )


if __name__ == "__main__":
    main()
