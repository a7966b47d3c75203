"""What a pubmix run costs at 10⁵ and at 10⁷ private rows: per round, for reading, and in memory.

    python benchmarks/round_cost.py

A run has a fixed number of draws (100,000 here), so a round votes as many records whatever n is; the curator draws the
voters of all rounds first and reads them once. The table has seven columns of whole numbers, in three layouts:
Parquet (zstd) in row groups of 65,536 rows, in row groups of 1,048,576 rows (pyarrow writes these unless told
otherwise), and an uncompressed Arrow file. 100,000 rows out of 10⁷ touch every row group of any usual size, and pyarrow
cannot skip pages inside one, so reading decodes the seven columns once; an Arrow file is only looked at where rows
are wanted. Each run is a process of its own; the least of three is taken. The alternative in the same run is the
Gaussian histogram, which has to let every record vote in every round.

With the same ε a smaller n has a larger share β of noise, that is fewer private votes among its draws and so a
cheaper round; ε = 4 makes β small at both sizes, so that the same work is compared.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from measuring import markdown, publish, run_process

SIZES = (10**5, 10**7)
DRAWS, CANDIDATES, ROUNDS = 100_000, 3000, 4
BLOCK = 1 << 20
LAYOUTS = {
    "zstd.parquet": "Parquet, groups of 64 Ki",
    "large.parquet": "Parquet, groups of 1 Mi",
    "arrow": "Arrow, uncompressed",
}


def table(rows, seed):
    """Return correlated whole numbers, like a census extract."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    latent = rng.normal(size=rows)

    def numbers(values, pull):
        drawn = (pull * latent + rng.normal(size=rows)) * values / 6 + values / 2
        return np.clip(drawn, 0, values - 1).astype(np.int64)

    shapes = {"age": (95, 1.5), "sex": (2, 0.2), "school": (24, 0.7), "work": (9, 0.5), "marital": (5, 0.6)}
    shapes |= {"hours": (80, 0.4), "income": (100_000, 1.0)}
    return pa.table({name: numbers(*shape) for name, shape in shapes.items()})


def make_tables(folder):
    """Write public.parquet and each layout of each size."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(table(20_000, 10**6), folder / "public.parquet")
    for size in SIZES:
        kind = table(1, 0).schema
        with (
            pq.ParquetWriter(folder / f"{size}.zstd.parquet", kind, compression="zstd") as small,
            pq.ParquetWriter(folder / f"{size}.large.parquet", kind, compression="zstd") as large,
            pa.ipc.new_file(folder / f"{size}.arrow", kind) as arrow,
        ):
            for seed, start in enumerate(range(0, size, BLOCK)):
                block = table(min(BLOCK, size - start), seed)
                small.write_table(block, row_group_size=1 << 16)
                large.write_table(block, row_group_size=BLOCK)
                arrow.write_table(block, max_chunksize=1 << 16)


def clocks():
    return time.perf_counter(), time.process_time()


def run_once(private, public, mechanism, epsilon, rounds):
    """Run in this process; return seconds (wall, CPU) of reading and of the rounds, and β."""
    from evomix.experiment.engine import run
    from evomix.experiment.spec import RunSpec
    from evomix.formats.row_source import SealedRows

    reading = [0.0, 0.0]
    take = SealedRows.take

    def timed_take(rows, positions, columns):
        start = clocks()
        found = take(rows, positions, columns)
        reading[:] = [end - begin + past for end, begin, past in zip(clocks(), start, reading, strict=True)]
        return found

    SealedRows.take = timed_take
    times = []
    with tempfile.TemporaryDirectory() as folder:
        spec = RunSpec.from_mapping(
            {"private": private, "public": public, "mechanism": mechanism, "epsilon": epsilon, "delta": 1e-8}
            | {"rounds": rounds, "candidates": CANDIDATES, "seed": 0, "ledger": f"{folder}/ledger.sqlite"}
            | ({"draws": DRAWS} if mechanism == "pubmix" else {})
        )
        done = run(
            spec, folder=None, progress=lambda stage, _done, _all: times.append(clocks()) if stage == "evolving" else 0
        )
    spans = [[end - begin for end, begin in zip(*pair, strict=True)] for pair in zip(times[1:], times, strict=False)]
    spans[0] = [span - read for span, read in zip(spans[0], reading, strict=True)]
    later = spans[1:] or spans  # the first round of a process also loads compiled code
    mean = [sum(part) / len(later) for part in zip(*later, strict=True)]
    return {"reading": reading, "round": mean, "beta": done.privacy.get("mixing_weight", 0.0)}


def measure(folder, size, layout, mechanism, epsilon, rounds=ROUNDS, repeats=3):
    """Return the least of each figure over some processes."""
    command = [sys.executable, __file__, "--worker", str(folder / f"{size}.{layout}"), str(folder / "public.parquet")]
    command += [mechanism, str(epsilon), str(rounds)]
    runs = [run_process(command) for _ in range(repeats)]
    found = [json.loads(run.output) for run in runs]
    return {
        "round": [min(part) for part in zip(*(item["round"] for item in found), strict=True)],
        "reading": [min(part) for part in zip(*(item["reading"] for item in found), strict=True)],
        "beta": found[0]["beta"],
        "peak": min(run.peak_mib for run in runs),
    }


def line(title, epsilon, small, large):
    cells = [title, f"{epsilon:g}", f"{small['beta']:.3f} / {large['beta']:.3f}"]
    cells.append(f"{small['round'][0] * 1e3:,.0f} / {large['round'][0] * 1e3:,.0f} ms")
    cells.append(" / ".join(f"{large['round'][clock] / small['round'][clock]:.2f}" for clock in (0, 1)))
    cells.append(f"{small['reading'][0]:.2f} / {large['reading'][0]:.2f} s")
    cells.append(f"{small['peak']:.0f} / {large['peak']:.0f} MiB")
    return [*cells, f"{large['peak'] / small['peak']:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.make:
        make_tables(asked.make)
        return
    if asked.worker:
        *files, mechanism, epsilon, rounds = asked.worker
        print(json.dumps(run_once(*files, mechanism, float(epsilon), int(rounds))))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_process([sys.executable, __file__, "--make", name])
        settings = [(layout, "pubmix", 4.0) for layout in LAYOUTS] + [("zstd.parquet", "pubmix", 1.0)]
        rows = []
        for layout, mechanism, epsilon in settings:
            sizes = [measure(folder, size, layout, mechanism, epsilon) for size in SIZES]
            rows.append(line(f"{mechanism}, {LAYOUTS[layout]}", epsilon, *sizes))
        sizes = [measure(folder, size, "zstd.parquet", "gaussian", 4.0, rounds=1, repeats=1) for size in SIZES]
        rows.append(line(f"gaussian, {LAYOUTS['zstd.parquet']}", 4.0, *sizes))
    header = ["run", "ε", "β", "a round", "ratio (wall / CPU)", "reading, once a run", "peak memory", "ratio"]
    publish(
        "round_cost",
        f"n = 10⁵ / n = 10⁷; {DRAWS:,} draws over {ROUNDS} rounds, {CANDIDATES:,} candidates, seven columns.",
        markdown(header, rows),
        "Asked for: a pubmix round's time ratio at most 1.3, its peak memory ratio at most 1.2. The ratio leaves out "
        "the one-time reading, which grows with the file: see its column.",
        command="python benchmarks/round_cost.py",
    )


if __name__ == "__main__":
    main()
