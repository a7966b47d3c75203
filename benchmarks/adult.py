"""Adult (1994 census income), mixed columns with missing values: quality at ε = 1 beside ceiling and floor.

    python benchmarks/adult.py --data FOLDER

FOLDER holds adult_train.parquet (32,561 rows, private) and adult_test.parquet (16,281 rows; UCI, CC BY 4.0). Public
are 2,000 random rows of adult_test, another choice for each seed; every figure is against the other rows of it, which
no run has seen. The same without public rows: a schema alone. Last, the whole of adult_test as the public table,
through the command line; there the figures are against adult_train itself. Models are gradient boosting.
"""

import argparse
import tempfile
import time
from pathlib import Path

import pandas as pd
import pyarrow as pa

import evomix
from evomix.modalities.tabular.inference import infer_schema
from measuring import markdown, mean_sd, publish
from quality import scores, synth

MECHANISMS = ("pubmix", "linmix", "gaussian")
TARGET = "income"
BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def cells(found):
    """Return TV of 1 to 3 columns, accuracy and AUC of one arm as lists over the seeds."""
    return [*zip(*(item["tv"] for item in found), strict=True), *([f[s] for f in found] for s in ("accuracy", "auc"))]


def arm(found, name):
    return {"tv": found["tv"][name], "accuracy": found["accuracy"][name], "auc": found["auc"][name]}


def one_setting(train, test, schema, mechanism, seeds, ledger, *, public):
    """Return scores by arm and CPU seconds, one a seed."""
    found, seconds = [], []
    for seed in range(seeds):
        known = test.sample(2000, random_state=seed)
        side = {"public": known} if public else {}
        start = time.process_time()
        made = evomix.synthesize(
            train, schema=schema, mechanism=mechanism, target=TARGET, seed=seed, ledger=ledger, **side, **BUDGET
        )
        seconds.append(time.process_time() - start)
        found.append(scores(test.drop(known.index), made.table, known, target=TARGET))
    return found, seconds


def held_out(train, test, schema, seeds, ledger):
    """Yield the table's rows."""
    for public in (True, False):
        for mechanism in MECHANISMS if public else MECHANISMS[1:]:
            found, seconds = one_setting(train, test, schema, mechanism, seeds, ledger, public=public)
            values = [mean_sd(column) for column in cells([arm(item, "synthetic") for item in found])]
            yield ["2,000 rows" if public else "schema", mechanism, *values, mean_sd(seconds, 1)]
        if public:
            reference = found
    for name, title in (("ceiling", "as many real rows"), ("floor", "public rows"), ("uniform", "uniform / no model")):
        yield ["", f"*{title}*", *(mean_sd(column) for column in cells([arm(item, name) for item in reference])), ""]


def command_line(folder, data):
    """Yield the rows of the runs with the whole test table as the public one."""
    train, test = (pd.read_parquet(data / f"adult_{part}.parquet") for part in ("train", "test"))
    for mechanism in MECHANISMS:
        table, cost = synth(
            data / "adult_train.parquet",
            folder,
            public=data / "adult_test.parquet",
            mechanism=mechanism,
            target=TARGET,
            seed=0,
            **BUDGET,
        )
        found = scores(train, table, test, target=TARGET)
        values = [mean_sd(column) for column in cells([arm(found, "synthetic")])]
        yield [mechanism, *values, f"{cost.wall_s:.1f} s", f"{cost.cpu_s:.1f} s", f"{cost.peak_mib:.0f} MiB"]
    for name, title in (("ceiling", "as many real rows"), ("floor", "public rows"), ("uniform", "uniform / no model")):
        yield [f"*{title}*", *(mean_sd(column) for column in cells([arm(found, name)])), "", "", ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of adult_train.parquet and adult_test.parquet")
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    train, test = (pd.read_parquet(asked.data / f"adult_{part}.parquet") for part in ("train", "test"))
    schema = infer_schema(pa.Table.from_pandas(test, preserve_index=False)).schema
    with tempfile.TemporaryDirectory() as name:
        unseen = list(held_out(train, test, schema, asked.seeds, f"{name}/ledger.sqlite"))
        whole = list(command_line(Path(name), asked.data))
    figures = ["1-way TV", "2-way TV", "3-way TV", "accuracy", "AUC"]
    publish(
        "adult",
        f"ε = 1, δ = 1e-6, 5,000 rows, default settings. Mean ± s.d. over {asked.seeds} seeds, against held-out rows:",
        markdown(["public", "synthetic rows by", *figures, "CPU s"], unseen),
        "`evomix synth adult_train.parquet --public adult_test.parquet --epsilon 1 --delta 1e-6 --target income`, "
        "against adult_train:",
        markdown(["synthetic rows by", *figures, "time", "CPU", "peak memory"], whole),
        command="python benchmarks/adult.py --data FOLDER",
    )


if __name__ == "__main__":
    main()
