"""What it buys to make rows of all releases together, not of the last one.

    python benchmarks/pooling.py --data FOLDER

FOLDER holds the files of the benchmarks person-activity and artificial-characters (`evomix bench list`). Whole
runs of votes, with rounds, candidates and scales as a run chooses them either way: "pooled" as by default, "last" with
--denoising shrunk beside public rows and signed without any. Scores are of gradient boosting on held-out rows and of
pairs of columns against the private rows. Seconds are CPU time of the run alone.
"""

import argparse
import time

from evomix.bench.catalog import entry
from evomix.bench.table_scores import TableScorer
from evomix.bench.table_sets import read_table_set
from measuring import markdown, mean_sd, publish
from quality import made_of

NAMES = ("person-activity", "artificial-characters")
EPSILONS = (1.0, 4.0)
MECHANISMS = ("linmix", "gaussian")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    rows = []
    for name in NAMES:
        parts = read_table_set(entry(name), options.data)
        scorer = TableScorer(parts)
        alone = "signed" if parts.public is None else "shrunk"
        for epsilon in EPSILONS:
            for mechanism in MECHANISMS:
                line = [name, f"{epsilon:g}", mechanism]
                for denoising in (alone, "pooled"):
                    found = {"accuracy": [], "tv_2_private": [], "cpu": []}
                    for seed in range(options.seeds):
                        start = time.process_time()
                        how = {"mechanism": mechanism, "denoising": denoising}
                        made = made_of(parts, epsilon=epsilon, seed=seed, **how)
                        found["cpu"].append(time.process_time() - start)
                        scores = scorer.score(made, seed=seed)
                        for score in ("accuracy", "tv_2_private"):
                            found[score].append(scores[score])
                    line += map(mean_sd, found.values())
                rows.append(line)
    head = ["set", "ε", "mechanism"]
    head += [f"{what}, {how}" for how in ("last", "pooled") for what in ("accuracy", "TV of pairs", "CPU s")]
    publish("pooling", markdown(head, rows), command="python benchmarks/pooling.py --data FOLDER")


if __name__ == "__main__":
    main()
