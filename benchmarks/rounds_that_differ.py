"""Do rounds that differ make a better table? Few candidates first and many at the end, against equal rounds.

    python benchmarks/rounds_that_differ.py --data FOLDER

FOLDER holds adult/adult_train.parquet and adult_test.parquet (UCI; 2,000 test rows are public, the others measure) and
acs_pums_2018/acs2018_14states.parquet (Hawaii private, 5,000 rows of the other states public; measured on all private
rows, which costs ε = ∞ and is for a benchmark only). ε = 1, δ = 1e-6, 5,000 rows, linmix.
"""

import argparse
import tempfile
from pathlib import Path

import pandas as pd

import evomix
from measuring import markdown, mean_sd, publish
from quality import scores

COLUMNS = ["AGEP", "SEX", "RAC1P", "MAR", "SCHL", "COW", "ESR", "WKHP", "PINCP", "CIT", "MIL"]
COARSE_TO_FINE = [500, 1000, 2000, 5000]
SETTINGS = {
    "default": {},
    "four equal rounds": {"rounds": 4},
    "four equal rounds, renyi": {"rounds": 4, "accounting": "renyi"},
    "coarse to fine, pld": {"candidates": COARSE_TO_FINE},
    "coarse to fine, draws": {"candidates": COARSE_TO_FINE, "accounting": "draws"},
}


def cases(folder):
    """Yield name, private, public and measured rows, and the target."""
    train, test = (pd.read_parquet(folder / "adult" / f"adult_{part}.parquet") for part in ("train", "test"))
    public = test.sample(2000, random_state=1)
    yield "Adult", train, public, test.drop(public.index), "income"
    states = pd.read_parquet(folder / "acs_pums_2018" / "acs2018_14states.parquet")
    hawaii = states.loc[states.state == "HI", COLUMNS]
    others = states.loc[states.state != "HI", COLUMNS].sample(5000, random_state=1)
    yield "Hawaii", hawaii, others, hawaii, None


def rows(name, private, public, real, target, seeds):
    """Yield a line for each setting, then ceiling and floor."""
    found = []
    for label, setting in SETTINGS.items():
        found = []
        for seed in range(seeds):
            with tempfile.TemporaryDirectory() as scratch:
                made = evomix.synthesize(
                    private, public=public, epsilon=1.0, delta=1e-6, rows=5000, seed=seed, target=target,
                    mechanism="linmix", ledger=Path(scratch) / "ledger.sqlite", dataset=name, **setting,
                )  # fmt: skip
            found.append(scores(real, made.table, public, target=target))
        yield [name, label, made.privacy["rounds"], made.privacy["accountant"], *_figures(found, "synthetic")]
    for label, arm in (("*as many real rows*", "ceiling"), ("*public rows*", "floor")):
        yield [name, label, "", "", *_figures(found, arm)]


def _figures(found, arm):
    yield mean_sd([item["tv"][arm][1] for item in found], 4)
    for score in ("accuracy", "auc"):
        yield mean_sd([item[score][arm] for item in found], 3) if score in found[0] else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    lines = [line for case in cases(asked.data) for line in rows(*case, asked.seeds)]
    publish(
        "rounds_that_differ",
        f"Coarse to fine: at most {', '.join(map(str, COARSE_TO_FINE))} candidates. Mean ± s.d., {asked.seeds} seeds:",
        markdown(["private", "rounds", "T", "account", "2-way TV", "accuracy", "AUC"], lines),
        command="python benchmarks/rounds_that_differ.py --data FOLDER",
    )


if __name__ == "__main__":
    main()
