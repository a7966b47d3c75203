"""The definition of LSCost as a linear program over all flows, solved by HiGHS: slow, and nothing to get wrong."""

import numpy as np
from scipy.optimize import linprog


def pairwise(points, radius):
    """c(u, v) = min(ρ, R/3) by direct differences, float64 (n, n)."""
    points = np.asarray(points, np.float64)
    gaps = points[:, None] - points[None]
    return np.minimum(np.sqrt((gaps**2).sum(axis=2)), radius / 3.0)


def cost_by_program(points, votes, chosen, radius):
    """LSCost by its definition: any flow between any two candidates; infinity where there is none."""
    size = len(votes)
    costs = pairwise(points, radius).ravel()
    balance = np.zeros((size, size * size))
    for node in range(size):
        out = np.zeros((size, size))
        out[node] += 1.0
        out[:, node] -= 1.0  # a loop cancels itself
        balance[node] = out.ravel()
    free = np.isin(np.arange(size), chosen)
    done = linprog(
        costs,
        A_eq=balance[~free] if (~free).any() else None,
        b_eq=votes[~free] if (~free).any() else None,
        A_ub=balance[free] if free.any() else None,
        b_ub=votes[free] if free.any() else None,
        method="highs",
    )
    return float(done.fun) if done.status == 0 else float("inf")


def clustered(rng, size, *, clusters=4, dimension=3, negative=1 / 3):
    """Points in clusters with noisy votes of which about a share is negative; some points and votes repeat."""
    centres = rng.normal(scale=5.0, size=(clusters, dimension))
    points = centres[rng.integers(clusters, size=size)] + rng.normal(size=(size, dimension))
    points[rng.integers(size, size=size // 10)] = points[rng.integers(size)]
    votes = rng.normal(size=size)
    votes += -np.quantile(votes, negative)
    votes[rng.integers(size, size=size // 10)] = 0.0
    return points, np.round(votes, 2)
