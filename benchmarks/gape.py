"""GAPE's local search against a plain k-medoids swap, in one run: ``python benchmarks/gape.py``.

Candidates are 768-dimensional embeddings: clusters of unequal sizes on random 12-dimensional planes and a little noise
in all directions. Votes are a few private ones where clusters are, plus Gaussian noise that makes about a third of them
negative. Each arm is a process of its own. Times are without imports and compiling, peak memory is the process's.

The plain swap is the textbook's on the whole matrix: a selected and an unselected candidate drawn at random, the change
of the cost summed over all rows with their nearest and second nearest known, the swap made if it helps. It has the same
weights (negative votes count as none) and the same random start as the lists' search beside it. ``kmedoids`` knows no
weights, so it is compared on equal ones.
"""

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from evomix.neighbors.near_lists import near_lists
from evomix.selection.local_search import local_search
from evomix.selection.ls_cost import ls_cost
from evomix.selection.seeding import seed_positions
from evomix.selection.swap_search import swap_search
from measuring import markdown, mean_sd, publish, run_process

DIMENSION, PLANE, CLUSTERS = 768, 12, 60
SIGNED = ("gape", "untried")
LARGE = (80_000, 10_000)
Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Round:
    points: NDArray[np.float32]
    votes: NDArray[np.float64]
    radius: float

    @property
    def eligible(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.votes > 0.0)


def make_round(count: int, seed: int) -> Round:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(CLUSTERS, 0.5))
    cluster = rng.choice(CLUSTERS, count, p=shares)
    planes = rng.normal(size=(CLUSTERS, PLANE, DIMENSION)).astype(np.float32) / math.sqrt(DIMENSION)
    centres = rng.normal(size=(CLUSTERS, DIMENSION)).astype(np.float32) * (3.0 / math.sqrt(DIMENSION))
    points = np.empty((count, DIMENSION), np.float32)
    for c in range(CLUSTERS):
        rows = np.flatnonzero(cluster == c)
        inside = rng.normal(size=(len(rows), PLANE)).astype(np.float32)
        points[rows] = centres[c] + inside @ planes[c]
        points[rows] += 0.02 * rng.normal(size=(len(rows), DIMENSION)).astype(np.float32)
    votes = 6.0 * rng.exponential(size=count) * (rng.random(count) < 0.5) + 4.5 * rng.normal(size=count)
    # Ten times the distance to a centre that is usual here, as ``selection.cluster_radius`` would have it.
    return Round(points, votes, radius=30.0)


def search(problem: Round, size: int, seed: int, start: str, weights: NDArray[np.float64]) -> Facts:
    """Swap on lists, from a greedy or a random start."""
    eligible, begin = problem.eligible, time.perf_counter()
    length = min(len(eligible), max(16, 4 * len(eligible) // size))
    lists = near_lists(problem.points, rows=eligible, columns=eligible, count=length, cap=problem.radius / 3.0)
    listed = time.perf_counter()
    first = random_start(problem, size, seed) if start == "random" else seed_positions(lists, weights, size=size)
    found = swap_search(lists, weights, first)
    assert found.complete
    wall = time.perf_counter() - begin
    return {"wall_s": wall, "lists_s": listed - begin, "cost": found.cost, "chosen": eligible[found.chosen]}


def random_start(problem: Round, size: int, seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed + 1000).choice(len(problem.eligible), size, replace=False)


def run_gape(problem: Round, size: int, _seed: int, _limit_s: float) -> Facts:
    return search_signed(problem, size, None)


def run_untried(problem: Round, size: int, _seed: int, _limit_s: float) -> Facts:
    return search_signed(problem, size, 0)


def search_signed(problem: Round, size: int, trials: int | None) -> Facts:
    begin = time.perf_counter()
    found = local_search(problem.points, problem.votes, size=size, radius=problem.radius, threshold=0.0, trials=trials)
    wall = time.perf_counter() - begin
    return {"wall_s": wall, "cost": found.cost, "gap": found.gap, "chosen": found.indices}


def run_greedy(problem: Round, size: int, seed: int, _limit_s: float) -> Facts:
    return search(problem, size, seed, "greedy", problem.votes[problem.eligible])


def run_random(problem: Round, size: int, seed: int, _limit_s: float) -> Facts:
    return search(problem, size, seed, "random", problem.votes[problem.eligible])


def run_equal(problem: Round, size: int, seed: int, _limit_s: float) -> Facts:
    return search(problem, size, seed, "random", np.ones(len(problem.eligible)))


def matrix(problem: Round) -> NDArray[np.float32]:
    rows = problem.points[problem.eligible]
    squares = np.einsum("ij,ij->i", rows, rows)
    costs = rows @ rows.T
    costs *= -2.0
    costs += squares
    costs += squares[:, None]
    np.maximum(costs, 0.0, out=costs)
    np.sqrt(costs, out=costs)
    np.fill_diagonal(costs, 0.0)
    return np.minimum(costs, np.float32(problem.radius / 3.0), out=costs)


def run_plain(problem: Round, size: int, seed: int, limit_s: float) -> Facts:
    eligible, begin = problem.eligible, time.perf_counter()
    weights, costs = problem.votes[eligible], matrix(problem)
    chosen, rng = random_start(problem, size, seed), np.random.default_rng(seed)
    free = np.setdiff1d(np.arange(len(eligible)), chosen)
    nearest, distances = np.zeros((2, len(eligible)), np.int64), np.zeros((2, len(eligible)))
    for v in range(len(eligible)):
        look(costs[v], chosen, v, nearest, distances)
    trace, tried = [(time.perf_counter() - begin, float(weights @ distances[0]))], 0
    while trace[-1][0] < limit_s:
        pairs = np.column_stack([rng.integers(0, size, 2000), rng.integers(0, len(free), 2000)])
        plain_swaps(costs, weights, chosen, free, pairs, nearest, distances)
        tried += len(pairs)
        trace.append((time.perf_counter() - begin, float(weights @ distances[0])))
    return {
        "wall_s": trace[-1][0],
        "cost": trace[-1][1],
        "trace": trace[:: max(1, len(trace) // 2000)],
        "tried": tried,
        "pairs": size * len(free),
        "chosen": eligible[chosen],
    }


@numba.njit(cache=True)
def plain_swaps(costs, weights, chosen, free, pairs, nearest, distances):
    """Try pairs of a slot and an unselected candidate one by one, each by one pass over all rows."""
    for slot, place in pairs:
        x = free[place]
        column = costs[x]  # the matrix is symmetric
        change = 0.0
        for v in range(len(weights)):
            rest = distances[1, v] if nearest[0, v] == slot else distances[0, v]
            change += weights[v] * (min(rest, column[v]) - distances[0, v])
        if change >= 0.0:
            continue
        chosen[slot], free[place] = x, chosen[slot]
        for v in range(len(weights)):
            if nearest[0, v] == slot or nearest[1, v] == slot:
                look(costs[v], chosen, v, nearest, distances)
            elif column[v] < distances[0, v]:
                nearest[1, v], distances[1, v] = nearest[0, v], distances[0, v]
                nearest[0, v], distances[0, v] = slot, column[v]
            elif column[v] < distances[1, v]:
                nearest[1, v], distances[1, v] = slot, column[v]


@numba.njit(cache=True)
def look(costs, chosen, v, nearest, distances):
    """Find the nearest two selected candidates of row v."""
    distances[0, v], distances[1, v] = np.inf, np.inf
    for slot in range(len(chosen)):
        cost = costs[chosen[slot]]
        if cost < distances[0, v]:
            nearest[1, v], distances[1, v] = nearest[0, v], distances[0, v]
            nearest[0, v], distances[0, v] = slot, cost
        elif cost < distances[1, v]:
            nearest[1, v], distances[1, v] = slot, cost


def run_kmedoids(problem: Round, size: int, seed: int, _limit_s: float) -> Facts:
    import kmedoids

    eligible, begin = problem.eligible, time.perf_counter()
    found = kmedoids.fasterpam(matrix(problem), random_start(problem, size, seed).astype(np.uint64), n_cpu=1)
    wall = time.perf_counter() - begin
    return {"wall_s": wall, "cost": float(found.loss), "chosen": eligible[found.medoids.astype(np.int64)]}


ARMS: dict[str, Callable[[Round, int, int, float], Facts]] = {
    "gape": run_gape,
    "untried": run_untried,
    "greedy": run_greedy,
    "random": run_random,
    "plain": run_plain,
    "equal": run_equal,
    "kmedoids": run_kmedoids,
}
NAMES = {
    "gape": "`local_search`, signed votes",
    "untried": "`local_search(trials=0)`: filling and swaps in turn, no exact swaps",
    "greedy": "swaps on lists, clipped votes, greedy start",
    "random": "swaps on lists, clipped votes, random start",
    "plain": "plain swaps on the matrix, clipped votes, random start",
    "equal": "swaps on lists, equal weights, random start",
    "kmedoids": "`kmedoids.fasterpam` on the matrix, equal weights, random start",
}


def child(arm: str, arguments: argparse.Namespace) -> None:
    """One arm in this process: facts as JSON on the last line, the selection in a file."""
    ARMS[arm](make_round(400, 0), 20, 0, 0.5)  # compiles
    facts = ARMS[arm](make_round(arguments.size_v, arguments.seeds), arguments.size, arguments.seeds, arguments.limit)
    np.save(arguments.keep, facts.pop("chosen"))
    print(json.dumps(facts))


def measure(arm: str, seed: int, arguments: argparse.Namespace, folder: Path) -> Facts:
    kept = folder / f"{arm}-{seed}.npy"
    options = {"--size-v": arguments.size_v, "--size": arguments.size, "--seeds": seed, "--limit": arguments.limit}
    flags = [str(part) for pair in options.items() for part in pair]
    cost = run_process([sys.executable, __file__, "--arm", arm, "--keep", str(kept), *flags])
    facts = json.loads(cost.output.splitlines()[-1])
    print(f"seed {seed}, {arm}: {facts['wall_s']:.1f} s", file=sys.stderr)
    return facts | {"peak_mib": cost.peak_mib, "chosen": np.load(kept)}


def row(arm: str, runs: list[Facts], ls_costs: list[float]) -> list[str]:
    peak = f"{max(run['peak_mib'] for run in runs):.0f}"
    medians = "" if arm in SIGNED else mean_sd([run["cost"] for run in runs], 1)
    flows = mean_sd(ls_costs, 1) if ls_costs else ""
    return [NAMES[arm], mean_sd([run["wall_s"] for run in runs], 2), peak, medians, flows]


def remarks(runs: dict[str, list[Facts]]) -> str:
    gap = max(run["gap"] for run in runs["gape"])
    settled = f"{gap:.1e}" if gap else "0, so no swap lowers LSCost by a share of 10⁻⁶"
    lists_s = mean_sd([run["lists_s"] for run in runs["greedy"]], 2)
    lines = [
        f"- `local_search`: largest `gap` {settled}; with `trials=0` {max(r['gap'] for r in runs['untried']):.1e}.",
        f"- of the lists' search with a greedy start, {lists_s} s make the lists.",
    ]
    if "plain" in runs:
        pairs = list(zip(runs["plain"], runs["random"], strict=True))
        then = mean_sd([next((c for t, c in p["trace"] if t >= r["wall_s"]), p["cost"]) / r["cost"] for p, r in pairs])
        last, share = mean_sd([p["cost"] / r["cost"] for p, r in pairs]), [p["tried"] / p["pairs"] for p, _ in pairs]
        lines.append(
            f"- the plain swap's cost is {then} times ours when ours has ended (its first cost, if it still makes its "
            f"matrix then), and {last} times when it is stopped, having tried {mean_sd(share)} of all pairs."
        )
    if "kmedoids" in runs:
        pairs = list(zip(runs["equal"], runs["kmedoids"], strict=True))
        costs, times = ([k[fact] / e[fact] for e, k in pairs] for fact in ("cost", "wall_s"))
        lines.append(f"- `kmedoids`: cost {mean_sd(costs, 5)} times ours, time {mean_sd(times, 2)} times.")
    return "\n".join(lines)


def compare(arguments: argparse.Namespace) -> tuple[str, str]:
    arms = ["gape", "untried", "greedy"]
    if not arguments.large:
        arms += ["random", "plain"]
        try:
            import kmedoids  # noqa: F401
        except ImportError:
            print("kmedoids is not installed; its row is left out", file=sys.stderr)
        else:
            arms += ["equal", "kmedoids"]
    runs: dict[str, list[Facts]] = {arm: [] for arm in arms}
    flows: dict[str, list[float]] = {arm: [] for arm in arms}
    negative = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.seeds):
            problem = make_round(arguments.size_v, seed)
            negative.append(float((problem.votes < 0.0).mean()))
            for arm in arms:
                facts = measure(arm, seed, arguments, Path(folder))
                runs[arm].append(facts)
                if arm in SIGNED:
                    flows[arm].append(facts["cost"])
                elif arm in {"greedy", "random", "plain"}:
                    flows[arm].append(ls_cost(problem.points, problem.votes, facts["chosen"], radius=problem.radius))
    header = ["search", "wall, s", "peak, MiB", "k-median cost on its weights", "LSCost"]
    title = (
        f"{arguments.size_v:,} candidates of {DIMENSION} dimensions, {arguments.size:,} to select, {arguments.seeds} "
        f"seeds, {mean_sd(negative)} of the votes negative; the plain swap is stopped after {arguments.limit:.0f} s."
    )
    table = markdown(header, [row(arm, runs[arm], flows[arm]) for arm in arms])
    return title, f"{table}\n\n{remarks(runs)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size-v", type=int, help="candidates; 16,000, or 80,000 with --large")
    parser.add_argument("--size", type=int, help="candidates to select; 2,000, or 10,000 with --large")
    parser.add_argument("--seeds", type=int, default=3, help="how many rounds, of seeds 0, 1, …")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for the plain swap")
    parser.add_argument(
        "--large", action="store_true", help="without what needs the whole matrix; results/gape_large.md"
    )
    parser.add_argument("--arm", choices=ARMS, help=argparse.SUPPRESS)
    parser.add_argument("--keep", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    sizes = LARGE if arguments.large else (16_000, 2_000)
    arguments.size_v, arguments.size = arguments.size_v or sizes[0], arguments.size or sizes[1]
    if arguments.arm:
        child(arguments.arm, arguments)
        return
    name = "gape_large" if arguments.large else "gape"
    publish(name, *compare(arguments), command=" ".join(["python benchmarks/gape.py", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
