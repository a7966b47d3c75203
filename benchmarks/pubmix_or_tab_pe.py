"""Votes mixed with public noise beside Tab-PE on Person Activity: is it the number of records that decides?

    python benchmarks/pubmix_or_tab_pe.py --data FOLDER

FOLDER holds ldpa_30pct.parquet. The paper that proposes PubMix has 107,237 private rows, this file 21,439; so the same
is run with every private row five times, which has the noise of the larger table and the people of this one. `pubmix`
is `evomix synth --mechanism pubmix` as it plans itself; both make 21,439 rows, scored by gradient boosting on held-out
rows.
"""

import argparse
import math
import tempfile
from pathlib import Path

import pyarrow as pa

import evomix
from evomix.bench.catalog import entry
from evomix.bench.rivals.tab_pe import tab_pe
from evomix.bench.rivals.task import TableTask
from evomix.bench.table_scores import TableScorer
from evomix.bench.table_sets import read_table_set
from measuring import markdown, mean_sd, publish

EPSILONS = (1.0, 2.0, 4.0)
COPIES = (1, 5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    parts = read_table_set(entry("person-activity"), options.data)
    scorer, rows = TableScorer(parts), []
    for copies in COPIES:
        private = pa.concat_tables([parts.private] * copies)
        for epsilon in EPSILONS:
            delta = 1.0 / (private.num_rows * math.log(private.num_rows))
            task = {"public": parts.public, "schema": parts.schema, "epsilon": epsilon, "delta": delta}
            task |= {"target": parts.target, "rows": parts.private.num_rows}
            found: dict[str, list[float]] = {"Tab-PE": [], "pubmix": []}
            for seed in range(options.seeds):
                made = {"Tab-PE": tab_pe(TableTask(private=private, seed=seed, **task))}
                with tempfile.TemporaryDirectory() as folder:
                    ledger = Path(folder) / "ledger.sqlite"
                    run = evomix.synthesize(private, mechanism="pubmix", seed=seed, ledger=ledger, **task)
                made["pubmix"] = pa.Table.from_pandas(run.table, preserve_index=False)
                for name, table in made.items():
                    found[name].append(scorer.score(table, seed=seed)["accuracy"])
            rows.append((f"{private.num_rows:,}", f"{epsilon:g}", *map(mean_sd, found.values())))
    command = "python benchmarks/pubmix_or_tab_pe.py --data FOLDER"
    publish("pubmix_or_tab_pe", markdown(("private rows", "ε", "Tab-PE", "pubmix"), rows), command=command)


if __name__ == "__main__":
    main()
