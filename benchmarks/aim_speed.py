"""CPU time and memory of a table from counts beside AIM as it is published, on Adult at ε = 1, in one run.

    python benchmarks/aim_speed.py --data FOLDER --smartnoise PYTHON

FOLDER holds adult_train.parquet (32,561 rows; UCI, CC BY 4.0). PYTHON is the interpreter of an environment of its own
with `pip install smartnoise-synth` (1.0.8 was measured): it pins other versions of what evomix needs. Its AIM runs at
its defaults, workload of pairs and models up to 80 MB, on codes of at most 32 bins a column. Both make as many rows as
there are, each in a process of its own that starts from a file and ends with one; that is what is measured.
"""

import argparse
import math
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow.csv as pv

from evomix.bench.catalog import entry
from evomix.bench.rivals.grid import Grid
from evomix.bench.table_sets import read_table_set
from measuring import markdown, publish, run_process
from quality import synth

EPSILON = 1.0
_AIM = """
import sys
import pandas as pd
from snsynth import Synthesizer

source, target, epsilon, delta = sys.argv[1:]
table = pd.read_csv(source)
program = Synthesizer.create("aim", epsilon=float(epsilon), delta=float(delta))
program.fit(table, categorical_columns=list(table.columns), preprocessor_eps=0.0)
pd.DataFrame(program.sample(len(table)), columns=table.columns).to_csv(target, index=False)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--smartnoise", required=True, help="interpreter with smartnoise-synth")
    options = parser.parse_args()
    parts = read_table_set(entry("adult"), options.data)
    delta = 1.0 / (parts.units * math.log(parts.units))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pv.write_csv(parts.private, folder / "private.csv")
        parts.schema.to_json(folder / "schema.json")
        grid = Grid(parts.schema)
        pd.DataFrame(grid.codes(parts.private), columns=list(grid.names)).to_csv(folder / "codes.csv", index=False)
        options_of_run = {"schema": folder / "schema.json", "target": parts.target, "rows": parts.units}
        _, ours = synth(folder / "private.csv", folder, epsilon=EPSILON, delta=repr(delta), **options_of_run)
        codes = [str(folder / "codes.csv"), str(folder / "aim.csv")]
        theirs = run_process([options.smartnoise, "-c", _AIM, *codes, str(EPSILON), repr(delta)])
    rows = [
        ("evomix synth", f"{ours.cpu_s:.1f}", f"{ours.wall_s:.1f}", f"{ours.peak_mib:.0f}"),
        ("AIM of smartnoise-synth", f"{theirs.cpu_s:.1f}", f"{theirs.wall_s:.1f}", f"{theirs.peak_mib:.0f}"),
        ("ratio", *(f"{b / a:.1f}" for a, b in zip(_figures(ours), _figures(theirs), strict=True))),
    ]
    command = "python benchmarks/aim_speed.py --data FOLDER --smartnoise PYTHON"
    publish("aim_speed", markdown(("program", "CPU s", "wall s", "peak MiB"), rows), command=command)


def _figures(cost):
    return cost.cpu_s, cost.wall_s, cost.peak_mib


if __name__ == "__main__":
    main()
