"""Accounting of mixing mechanisms: δ(ε) and β_min, against the plain sum and against composed PLDs.

    python benchmarks/accounting.py

The plain sum runs over all O(m²) outcomes, in logarithms, vectorised; it stops at 2,000 draws. The other rival is
dp-accounting's privacy loss distribution of the three-outcome pair, composed with itself (pessimistic, its default
grid of 1e-4); its β is the root of its δ. It is asked up to 10,000 draws.

A second table has votes that a kernel spreads: the exact pair for bounded sensitivity beside the published Lemma H.1.
"""

import math

import numpy as np
from dp_accounting.pld import privacy_loss_distribution
from scipy.optimize import brentq
from scipy.special import gammaln

from evomix.privacy.bounded_sensitivity import (
    bounded_delta,
    bounded_mixing_weight,
    lemma_h1_delta,
    lemma_h1_weight,
)
from evomix.privacy.calibration import delta, mixing_weight
from measuring import markdown, publish, timed

EPSILON, FLOOR = 5.0, 1e-3


def pair(beta, n, floor=FLOOR):
    """Return the worst pair of one draw."""
    gain = (1.0 - beta) / n
    rest = 1.0 - 2.0 * beta * floor - gain
    return np.array([beta * floor + gain, beta * floor, rest]), np.array([beta * floor, beta * floor + gain, rest])


def plain_sum(beta, n, draws):
    """Sum max(P − e^ε·Q, 0) over all numbers of draws on the three outcomes."""
    log_p, log_q = map(np.log, pair(beta, n))
    total = 0.0
    for first in range(draws + 1):
        second = np.arange(draws - first + 1)
        third = draws - first - second
        ways = gammaln(draws + 1) - gammaln(first + 1) - gammaln(second + 1) - gammaln(third + 1)
        loss = first * (log_p[0] - log_q[0]) + second * (log_p[1] - log_q[1])
        worse = loss > EPSILON
        log_mass = ways + first * log_p[0] + second * log_p[1] + third * log_p[2]
        total += float((np.exp(log_mass[worse]) * -np.expm1(EPSILON - loss[worse])).sum())
    return total


def composed(beta, n, draws):
    """Return δ by dp-accounting, rounded up to its grid."""
    p, q = pair(beta, n)
    loss = privacy_loss_distribution.from_two_probability_mass_functions(
        dict(enumerate(np.log(q))), dict(enumerate(np.log(p)))
    )
    return loss.self_compose(draws).get_delta_for_epsilon(EPSILON)


def composed_weight(target, n, draws):
    return brentq(lambda beta: math.log(max(composed(beta, n, draws), 1e-300) / target), 1e-9, 1 - 1e-9, rtol=1e-10)


def milliseconds(seconds):
    return f"{seconds * 1e3:.3g} ms"


def line(n, draws):
    target = 1.0 / n
    mixing_weight(EPSILON, target, n=n, draws=draws, floor=FLOOR)  # compiled, or loaded from the cache
    beta, for_beta = timed(lambda: mixing_weight(EPSILON, target, n=n, draws=draws, floor=FLOOR))
    ours, for_delta = timed(lambda: delta(EPSILON, mixing_weight=beta, n=n, draws=draws, floor=FLOOR), 10)
    cells = [n, f"{draws:,}", f"{beta:.4g}", milliseconds(for_delta), milliseconds(for_beta)]
    if draws <= 2000:
        value, seconds = timed(lambda: plain_sum(beta, n, draws), 1)
        cells += [f"{seconds / for_delta:,.0f} ×", f"{ours / value - 1:+.1e}"]
    else:
        cells += ["", ""]
    if draws <= 10_000:
        value, seconds = timed(lambda: composed(beta, n, draws), 1)
        _, longer = timed(lambda: composed_weight(target, n, draws), 1)
        cells += [f"{seconds / for_delta:,.0f} ×", f"{value / ours - 1:+.1e}", f"{longer / for_beta:,.0f} ×"]
    else:
        cells += ["", "", ""]
    return cells


def most_draws(spent, target):
    """Return the largest number of draws whose δ is at most ``target``, by halving."""
    low, high = 0, 1
    while high < 10**6 and spent(high) <= target:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if spent(middle) <= target else (low, middle)
    return low


def smoothed(share, n=1200, draws=1000, beta=0.5):
    """Votes of which no candidate gets more than ``share``: the least β, and the draws that β = ½ affords."""
    target, s, r = 1.0 / n, share / n, 1.0 / n
    known, fixed = {"sensitivity": s, "floor": FLOOR}, {"mixing_weight": beta, "floor": FLOOR, "sensitivity": s}
    exact, seconds = timed(lambda: bounded_mixing_weight(EPSILON, target, spread=r, draws=draws, **known))
    weights = [
        mixing_weight(EPSILON, target, n=n, draws=draws, floor=FLOOR),
        exact,
        bounded_mixing_weight(EPSILON, target, draws=draws, **known),
        lemma_h1_weight(EPSILON, target, draws=draws, **known),
    ]
    affords = [
        most_draws(lambda m: bounded_delta(EPSILON, spread=r, draws=m, **fixed), target),
        most_draws(lambda m: lemma_h1_delta(EPSILON, draws=m, **fixed), target),
    ]
    return [
        f"1/{round(1 / share)}",
        *(f"{w:.4g}" for w in weights),
        milliseconds(seconds),
        *(f"{m:,}" for m in affords),
    ]


def main():
    header = [
        "n", "draws", "β_min", "δ takes", "β takes",
        "plain sum", "δ beside it", "PLD, δ", "its δ beside ours", "PLD, β",
    ]  # fmt: skip
    smoothed_header = [
        "largest share", "β, as plain votes", "β, share known", "β, only the sensitivity known",
        "β, Lemma H.1", "β takes", "draws at β = ½", "by Lemma H.1",
    ]  # fmt: skip
    sizes = [(1200, m) for m in (100, 1000, 2000, 10_000, 1_000_000)]
    sizes += [(1_000_000, m) for m in (2000, 10_000, 1_000_000)]
    rows = [line(n, draws) for n, draws in sizes]
    publish(
        "accounting",
        f"δ(ε) and its inverse β_min(ε, δ = 1/n) at ε = {EPSILON:g} and floor {FLOOR:g}; × is how many times as long "
        "the rival takes in the same run (CPU time; all of it on one thread).",
        markdown(header, rows),
        "Asked for: δ ≤ 2 ms and β ≤ 30 ms at 10⁴ draws; ≤ 50 ms and ≤ 1 s at 10⁶; δ at least 1,000 times as fast as "
        "the plain sum at 1,000 draws and at least 50 times as fast as PLD composition at 10⁴.",
        "Votes of 1,200 units, each spread by a kernel with at most the stated share on one candidate; the least β for "
        f"1,000 draws at ε = {EPSILON:g}, δ = 1/n, and the draws that β = ½ affords.",
        markdown(
            smoothed_header,
            [smoothed(share) for share in (1.0, 1 / 4, 1 / 16)],
        ),
        command="python benchmarks/accounting.py",
    )


if __name__ == "__main__":
    main()
