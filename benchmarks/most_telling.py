"""Counting the column that says most of the target with it once more: what it buys, what it costs.

    python benchmarks/most_telling.py --data FOLDER

FOLDER holds the files of the sets named below. Beside a run as it is stands one whose last stage has the share of that
stage instead, all else alike: gradient boosting on held-out rows, and pairs of columns against the private rows.
"""

import argparse
from unittest.mock import patch

from evomix.bench.catalog import entry
from evomix.bench.table_scores import TableScorer
from evomix.bench.table_sets import read_table_set
from evomix.marginals import stages
from measuring import markdown, mean_sd, publish
from quality import made_of

SETS = ("person-activity", "artificial-characters")
EPSILONS = (1.0, 4.0)
SHARES = (stages.ONCE_MORE, 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    seeds, rows = range(options.seeds), []
    for name in SETS:
        parts = read_table_set(entry(name), options.data)
        scorer = TableScorer(parts)
        for epsilon in EPSILONS:
            found: list[str] = []
            for share in SHARES:
                with patch.object(stages, "ONCE_MORE", share):
                    made = [scorer.score(made_of(parts, epsilon=epsilon, seed=seed), seed=seed) for seed in seeds]
                found += [mean_sd([one[score] for one in made]) for score in ("accuracy", "tv_2_private")]
            rows.append((name, f"{epsilon:g}", *found))
    header = ("set", "ε", "accuracy", "TV 2-way to private", "accuracy without", "TV 2-way without")
    publish(
        "most_telling",
        markdown(header, rows),
        command=f"python benchmarks/most_telling.py --data FOLDER --seeds {options.seeds}",
    )


if __name__ == "__main__":
    main()
