"""How high τ should be: GAPE on one release, by the standard deviations of noise that a candidate's votes must exceed.

    python benchmarks/threshold.py

20,000 records in 20 groups of 8 dimensions, the largest 20 % and the smallest 0.5 % of all, far apart; 2,000
candidates, of which 15 % are strangers far from every group. One release of the exact votes, Gaussian or LinMix (as
many draws as records), replace-one, δ = 1e-6; 250 candidates are kept. Scores: groups that keep one (within the group's
spread), the share of those kept that lie in no group, and exact W1 between the votes that flow to those kept and 2,000
records. Mean ± s.e. over the seeds.
"""

import argparse

import numpy as np

from evomix import metrics, privacy
from evomix.core.release import Draws, NoisyVotes
from evomix.neighbors.vectors import VectorIndex
from evomix.selection import local_search, theory_multiple, vote_threshold
from measuring import markdown, publish

RECORDS, GROUPS, DIMENSION, CANDIDATES, SIZE, DELTA = 20_000, 20, 8, 2_000, 250, 1e-6
APART, STRANGERS = 40.0, 0.15
THEORY = theory_multiple(CANDIDATES, 1)
MULTIPLES = (0.0, 1.0, 1.5, 2.0, 3.0, THEORY)
EPSILONS = (0.25, 1.0, 4.0)


def world(rng):
    """Return records, candidates, the groups' centres and the exact votes."""
    centres = rng.uniform(-APART, APART, (GROUPS, DIMENSION))
    shares = np.geomspace(40.0, 1.0, GROUPS)
    records = centres[rng.choice(GROUPS, RECORDS, p=shares / shares.sum())] + rng.normal(size=(RECORDS, DIMENSION))
    candidates = centres[rng.integers(GROUPS, size=CANDIDATES)] + 1.5 * rng.normal(size=(CANDIDATES, DIMENSION))
    strangers = rng.random(CANDIDATES) < STRANGERS
    candidates[strangers] = rng.uniform(-APART, APART, (int(strangers.sum()), DIMENSION))
    votes = np.bincount(VectorIndex(candidates).nearest(records)[:, 0], minlength=CANDIDATES)
    return records, candidates, centres, votes


def released(mechanism, epsilon, votes, rng):
    if mechanism == "gaussian":
        stddev = privacy.gaussian_stddev(epsilon, DELTA, rounds=1)
        return NoisyVotes(votes + rng.normal(scale=stddev, size=votes.size), stddev, RECORDS)
    floor = 1.0 / CANDIDATES
    weight = privacy.mixing_weight(epsilon, DELTA, n=RECORDS, draws=RECORDS, floor=floor)
    noise = np.full(CANDIDATES, floor)
    law = (1.0 - weight) * votes / RECORDS + weight * noise
    return Draws(rng.multinomial(RECORDS, law / law.sum()), weight, noise, RECORDS)


def scored(records, candidates, centres, release, multiple, rng):
    """Return passed, groups kept, strangers' share and W1."""
    threshold = vote_threshold(release, multiple=multiple)
    found = local_search(candidates, release.estimate(), size=SIZE, radius=np.inf, threshold=threshold)
    kept = candidates[found.indices]
    apart = np.linalg.norm(kept[:, None] - centres[None], axis=2)
    inside = apart <= 3.0 * np.sqrt(DIMENSION)
    flowing = found.weights > 0.0
    moved = metrics.wasserstein(
        kept[flowing], records[rng.choice(RECORDS, 2_000, replace=False)], x_weights=found.weights[flowing]
    )
    passed = int((release.estimate() > threshold).sum())
    return passed, int(inside.any(axis=0).sum()), float((~inside.any(axis=1)).mean()), float(moved)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seeds", type=int, default=5)
    given = arguments.parse_args()
    rows = []
    for mechanism in ("gaussian", "linmix"):
        for epsilon in EPSILONS:
            for multiple in MULTIPLES:
                taken = []
                for seed in range(given.seeds):
                    rng = np.random.default_rng(seed)
                    records, candidates, centres, votes = world(rng)
                    release = released(mechanism, epsilon, votes, rng)
                    taken.append(scored(records, candidates, centres, release, multiple, rng))
                means = np.mean(taken, axis=0)
                errors = np.std(taken, axis=0, ddof=1) / np.sqrt(given.seeds)
                told = [
                    f"{mean:.{d}f} ± {error:.{d}f}" for mean, error, d in zip(means, errors, (0, 1, 2, 2), strict=True)
                ]
                rows.append([mechanism, f"{epsilon:g}", f"{multiple:.3g}", *told])
                print(*rows[-1], sep="  ", flush=True)
    header = ["mechanism", "ε", "τ in σ", "pass", f"groups of {GROUPS}", "strangers kept", "W1"]
    publish("threshold", markdown(header, rows), command=f"python benchmarks/threshold.py --seeds {given.seeds}")


if __name__ == "__main__":
    main()
