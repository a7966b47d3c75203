"""A state's census records as the private table, other states' as the public one, and the reverse.

    python benchmarks/acs.py --data FOLDER

FOLDER holds acs2018_14states.parquet: 173,916 person records of 14 states (ACS PUMS 2018, 1-year, U.S. Census Bureau).
Seven columns (RAC1P SEX COW MAR SCHL DIS ENG) are kept; Hawaii's 14,400 rows are private and the other states'
159,516 public, then the reverse. Each run is `evomix synth` in a process of its own; time and peak memory are that
process's. 5,000 synthetic rows are compared with all private rows, so the figures cost ε = ∞ and are for a
benchmark only.
"""

import argparse
import tempfile
from pathlib import Path

import pandas as pd

from measuring import markdown, mean_sd, publish
from quality import scores, synth

COLUMNS = ["RAC1P", "SEX", "COW", "MAR", "SCHL", "DIS", "ENG"]
MECHANISMS = ("pubmix", "linmix", "gaussian")


def make_tables(source, folder):
    people = pd.read_parquet(source)
    hawaii = people["state"] == "HI"
    for name, rows in (("hawaii", hawaii), ("others", ~hawaii)):
        people.loc[rows, COLUMNS].to_parquet(folder / f"{name}.parquet", index=False)


def lines(folder, private, public, seeds):
    real, others = (pd.read_parquet(folder / f"{name}.parquet") for name in (private, public))
    for mechanism in MECHANISMS:
        options = {"public": folder / f"{public}.parquet", "mechanism": mechanism, "epsilon": 1, "delta": 1e-6}
        runs = [synth(folder / f"{private}.parquet", folder, seed=seed, **options) for seed in range(seeds)]
        found = [scores(real, table, others)["tv"] for table, _ in runs]
        tv = [mean_sd([item["synthetic"][way] for item in found], 4) for way in range(3)]
        costs = [cost for _, cost in runs]
        slowest = max(cost.wall_s for cost in costs)
        busiest, largest = (max(getattr(cost, part) for cost in costs) for part in ("cpu_s", "peak_mib"))
        yield [private, mechanism, *tv, f"{slowest:.1f} s", f"{busiest:.1f} s", f"{largest:.0f} MiB"]
    for arm, title in (("ceiling", "as many real rows"), ("floor", "public rows"), ("uniform", "uniform rows")):
        yield [private, f"*{title}*", *(f"{value:.4f}" for value in found[0][arm]), "", "", ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of acs2018_14states.parquet")
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_tables(asked.data / "acs2018_14states.parquet", folder)
        rows = [
            line
            for private, public in (("hawaii", "others"), ("others", "hawaii"))
            for line in lines(folder, private, public, asked.seeds)
        ]
    header = ["private", "synthetic rows by", "1-way TV", "2-way TV", "3-way TV", "time", "CPU", "peak memory"]
    publish(
        "acs",
        f"ε = 1, δ = 1e-6, 5,000 rows, default settings; mean ± s.d. over {asked.seeds} seeds, the largest time and "
        "memory of them.",
        markdown(header, rows),
        "Asked for: each run within 60 s and 1 GB.",
        command="python benchmarks/acs.py --data FOLDER",
    )


if __name__ == "__main__":
    main()
