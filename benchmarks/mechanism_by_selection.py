"""Every mechanism with every selection: which pair comes nearest, and is PubMix with GAPE worth having?

    python benchmarks/mechanism_by_selection.py
    python benchmarks/mechanism_by_selection.py --data FOLDER

The first is of 24 groups of 20,000 people that are made here, far apart, the largest 30 % and the smallest 0.3 % of
all; their 1,000 public rows know all groups, in other shares, and hold 20 % of strangers. The second is of tables:
FOLDER holds adult_train.parquet, adult_test.parquet (UCI; 2,000 rows of the test part are public, all else of it is
what runs are scored on) and acs2018_14states.parquet (ACS PUMS 2018, U.S. Census Bureau; one state is private, another
public).

Whole runs with default settings but for mechanism and selection. Scores, in the coordinates of the votes: exact W1
between 1,500 synthetic and 1,500 real rows; data-based recall (share of 3,000 real rows whose ball, as far as their
third real neighbour, holds a synthetic row); covered groups; total variation of pairs of columns. Each beside as many
real rows, and beside the public rows.
"""

import argparse
import itertools
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

import evomix
from evomix import metrics
from evomix.modalities.tabular.inference import infer_schema
from evomix.modalities.tabular.modality import build_table_modality
from measuring import markdown, publish
from quality import scores

MECHANISMS = ("gaussian", "linmix", "pubmix")
SELECTIONS = ("subsample", "rank", "projection", "gape")
EPSILONS = (0.5, 1.0, 4.0)
DELTA, ROWS = 1e-6, 5000
COLUMNS = ["RAC1P", "SEX", "COW", "MAR", "SCHL", "DIS", "ENG"]
PAIRS = (("HI", "NM"), ("ME", "NH"))
GROUPS, DIMENSION, APART, SPREAD = 24, 6, 30.0, 1.0
SCORED, BALLS = 1500, 3000


def clusters(people, public, seed):
    """Return private, held-out and public rows of the groups, and the groups' centres."""
    rng = np.random.default_rng(7)  # the same centres for each seed
    centres = np.empty((0, DIMENSION))
    while len(centres) < GROUPS:
        drawn = rng.uniform(10.0, 90.0, DIMENSION)
        if not len(centres) or np.linalg.norm(centres - drawn, axis=1).min() > APART:
            centres = np.vstack([centres, drawn])
    shares = np.geomspace(100.0, 1.0, GROUPS)
    rng = np.random.default_rng([seed, 7])

    def rows(count, weights, strangers=0.0):
        of = rng.choice(GROUPS, count, p=weights / weights.sum())
        found = centres[of] + SPREAD * rng.standard_normal((count, DIMENSION))
        stranger = rng.random(count) < strangers
        found[stranger] = rng.uniform(0.0, 100.0, (int(stranger.sum()), DIMENSION))
        return pd.DataFrame(np.clip(found, 0.0, 100.0).round(3), columns=[f"x{j}" for j in range(DIMENSION)])

    return rows(people, shares), rows(people, shares), rows(public, np.ones(GROUPS), 0.2), centres


def covered(table, centres):
    """Return the share of the groups that have a row within three standard deviations a coordinate."""
    gaps = np.linalg.norm(table.to_numpy(float)[:, None] - centres[None], axis=2)
    return float((gaps.min(axis=0) < 3.0 * SPREAD * np.sqrt(DIMENSION)).mean())


class Setting:
    """A private and a public table, and how rows are scored against held-out ones."""

    def __init__(self, name, private, held_out, public, centres=None):
        self.name, self.private, self.held_out, self.public, self.centres = name, private, held_out, public, centres
        known = pa.Table.from_pandas(public, preserve_index=False)
        schema = infer_schema(known).schema
        self.modality = build_table_modality(schema, known, target=None)
        self.names = [column.name for column in schema.modelled]

    def points(self, *tables):
        """Return rows of several tables in one space."""
        encoded = [
            self.modality.codec.encode(pa.Table.from_pandas(table[self.names], preserve_index=False))
            for table in tables
        ]
        ends = np.cumsum([len(part) for part in encoded])[:-1]
        return np.split(self.modality.embedder.vectors(np.concatenate(encoded)), ends)

    def score(self, table, seed):
        """Return W1, recall, covered groups and pairwise TV of ``table``."""
        real = self.held_out.sample(min(BALLS, len(self.held_out)), random_state=seed)
        some = table.sample(min(ROWS, len(table)), random_state=seed)
        wanted, made = self.points(real, some)
        kept = min(SCORED, len(made))
        pairs = scores(self.held_out, some, self.public)["tv"]["synthetic"][1]
        return {
            "W1": float(metrics.wasserstein(made[:kept], wanted[:SCORED])),
            "recall": float(metrics.recall(wanted, made, k=3)),
            "groups": np.nan if self.centres is None else covered(some, self.centres),
            "2-way TV": pairs,
        }


def settings(data, seed):
    """Yield the settings of a seed."""
    if data is None:
        private, held_out, public, centres = clusters(20_000, 1_000, seed)
        yield Setting("24 groups", private, held_out, public, centres)
        return
    train, test = (pd.read_parquet(data / f"adult_{part}.parquet") for part in ("train", "test"))
    known = test.sample(2000, random_state=seed)
    yield Setting("Adult", train, test.drop(known.index), known)
    people = pd.read_parquet(data / "acs2018_14states.parquet")
    for private, public in PAIRS:
        rows = [people.loc[people["state"] == name, COLUMNS].astype(str) for name in (private, public)]
        yield Setting(f"{private}, public {public}", rows[0], rows[0], rows[1])


def run_all(data, seeds, epsilons, ledger):
    """Return {(setting, ε, mechanism, selection): {score: one a seed}}; ceiling and floor stand in for pairs."""
    found = {}

    def keep(key, scored):
        for name, value in scored.items():
            found.setdefault(key, {}).setdefault(name, []).append(value)

    for seed in range(seeds):
        for one in settings(data, seed):
            keep(
                (one.name, None, "*as many real rows*", ""),
                one.score(one.private.sample(ROWS, random_state=seed), seed),
            )
            keep((one.name, None, "*public rows*", ""), one.score(one.public, seed))
            for epsilon, mechanism, selection in itertools.product(epsilons, MECHANISMS, SELECTIONS):
                start = time.process_time()
                made = evomix.synthesize(
                    one.private,
                    public=one.public,
                    epsilon=epsilon,
                    delta=DELTA,
                    rows=ROWS,
                    mechanism=mechanism,
                    selection=selection,
                    seed=seed,
                    ledger=ledger,
                )
                seconds = time.process_time() - start
                keep((one.name, epsilon, mechanism, selection), one.score(made.table, seed) | {"CPU s": seconds})
                print(one.name, seed, epsilon, mechanism, selection, f"{seconds:.1f} s", flush=True)
    return found


def mean_se(values, digits=4):
    values = np.asarray(values, float)
    if np.isnan(values).all():
        return ""
    spread = f" ± {values.std(ddof=1) / np.sqrt(values.size):.{digits}f}" if values.size > 1 else ""
    return f"{values.mean():.{digits}f}{spread}"


FIGURES = (("W1", 4), ("recall", 3), ("groups", 3), ("2-way TV", 4), ("CPU s", 1))


def table_of(found, name, epsilon):
    rows = []
    for key, scored in found.items():
        if key[0] == name and key[1] in (epsilon, None):
            cells = [mean_se(scored[figure], digits) if figure in scored else "" for figure, digits in FIGURES]
            rows.append([key[2], key[3], *cells])
    return markdown(["mechanism", "selection", *(figure for figure, _ in FIGURES)], rows)


def verdicts(found, names, epsilons):
    """Return for each set and ε how much PubMix with GAPE wins over the others, pairwise by seed."""
    rows = []
    for name, epsilon in itertools.product(names, epsilons):
        ours, cells = found[name, epsilon, "pubmix", "gape"], []
        for other in (("gaussian", "gape"), ("pubmix", "subsample"), ("linmix", "gape")):
            theirs = found[name, epsilon, *other]
            cells += [
                mean_se(np.subtract(theirs["W1"], ours["W1"])),
                mean_se(np.subtract(ours["recall"], theirs["recall"]), 3),
            ]
        rows.append([name, f"{epsilon:g}", *cells])
    heads = [f"{figure} against {other}" for other in ("gaussian × gape", "pubmix × subsample", "linmix × gape")
             for figure in ("W1", "recall")]  # fmt: skip
    return markdown(["set", "ε", *heads], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the three Parquet files; without it, the groups")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epsilons", type=float, nargs="+", default=EPSILONS)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run_all(asked.data, asked.seeds, asked.epsilons, f"{folder}/ledger.sqlite")
    names = list(dict.fromkeys(key[0] for key in found))
    parts = []
    for name, epsilon in itertools.product(names, asked.epsilons):
        parts += [f"**{name}, ε = {epsilon:g}**", table_of(found, name, epsilon)]
    publish(
        "mechanism_by_selection" if asked.data is None else "mechanism_by_selection_tables",
        f"δ = 1e-6, {ROWS:,} rows, default settings but for mechanism and selection; mean ± s.e. over {asked.seeds} "
        "seeds. CPU seconds are those of a whole run.",
        "What PubMix with GAPE wins over the others (above 0: it is nearer, or recalls more), pairwise by seed:",
        verdicts(found, names, asked.epsilons),
        *parts,
        command=f"python benchmarks/mechanism_by_selection.py{'' if asked.data is None else ' --data FOLDER'} "
        f"--seeds {asked.seeds} --epsilons {' '.join(f'{epsilon:g}' for epsilon in asked.epsilons)}",
    )


if __name__ == "__main__":
    main()
