"""Runs whose rounds differ: what the loss distribution gives beside Rényi divergences and the exact accounts.

    python benchmarks/composition.py

The first table asks for ε at a given δ of calibrated runs, by every account that applies; dp-accounting's privacy loss
distributions (pessimistic, each draw rounded up on a grid of 1e-4) are the rival. The second asks for noise: the time
that calibration takes, and what a filter for rounds chosen on the way costs beside parameters fixed in advance.
"""

import math

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld

from evomix.privacy.composition import accountant_of, calibrate_rounds, composed_delta, composed_epsilon
from evomix.privacy.rounds import GaussianRound, MixingRound, RoundShape
from measuring import markdown, publish, timed

UNITS, GRID = 107_237, 1e-4
COARSE_TO_FINE = tuple(RoundShape("mixing", 10_000, 1.0 / d) for d in (500, 2000, 8000, 20_000))
RUNS = {
    "4 equal mixing rounds of 10⁴ draws": (RoundShape("mixing", 10_000, 1.0 / 20_000),) * 4,
    "4 mixing rounds of 10⁴ draws, d = 500 to 20,000": COARSE_TO_FINE,
    "3 mixing rounds of 10⁴ draws, 1 Gaussian": (*COARSE_TO_FINE[:3], RoundShape("gaussian")),
    "8 rounds: 4 mixing of 10⁴ draws, 2 Gaussian, 2 Laplace": (
        *COARSE_TO_FINE, *(RoundShape("gaussian"),) * 2, *(RoundShape("laplace", share=0.5),) * 2
    ),
    "4 equal Gaussian rounds": (RoundShape("gaussian"),) * 4,
    "10 equal Laplace rounds": (RoundShape("laplace"),) * 10,
}  # fmt: skip


def rival(rounds):
    """Return dp-accounting's composed distribution; Laplace rounds as randomised response, twice."""
    whole = pld.identity(value_discretization_interval=GRID)
    for each in rounds:
        if isinstance(each, GaussianRound):
            whole = whole.compose(
                pld.from_gaussian_mechanism(each.stddev / math.sqrt(2.0), value_discretization_interval=GRID)
            )
            continue
        if isinstance(each, MixingRound):
            base, gap, count = each.mixing_weight * each.floor, (1.0 - each.mixing_weight) / each.units, each.draws
            law = np.log([base + gap, base, 1.0 - 2.0 * base - gap])
        else:
            law, count = -np.log1p(np.exp([-1.0 / each.scale, 1.0 / each.scale])), 2
        upper = dict(enumerate(law))
        lower = upper | {0: law[1], 1: law[0]}
        one = pld.from_two_probability_mass_functions(lower, upper, value_discretization_interval=GRID)
        whole = whole.compose(one.self_compose(count))
    return whole


def milliseconds(seconds):
    return f"{seconds * 1e3:.3g} ms"


def accounts(name, epsilon, delta):
    rounds = calibrate_rounds(epsilon, delta, RUNS[name], units=UNITS)
    exact = accountant_of(rounds)
    ours, seconds = timed(lambda: composed_epsilon(delta, rounds, accountant="pld"))
    _, once = timed(lambda: composed_delta(epsilon, rounds, accountant="pld"))
    renyi, quick = timed(lambda: composed_epsilon(delta, rounds, accountant="renyi"))
    theirs, slow = timed(lambda: rival(rounds).get_epsilon_for_delta(delta), 1)
    known = "" if exact == "pld" else f"{composed_epsilon(delta, rounds):.6f} ({exact})"
    return [
        name, f"{delta:g}", known, f"{ours:.6f}", milliseconds(once), milliseconds(seconds),
        f"{renyi:.4f}", milliseconds(quick), f"{theirs:.4f}", f"{slow / once:,.0f} ×",
    ]  # fmt: skip


def noises(rounds):
    return ", ".join(
        f"β {each.mixing_weight:.4f}" if isinstance(each, MixingRound)
        else f"σ {each.stddev:.2f}" if isinstance(each, GaussianRound)
        else f"b {each.scale:.2f}"
        for each in rounds
    )  # fmt: skip


def calibrations(name, epsilon, delta):
    fixed, seconds = timed(lambda: calibrate_rounds(epsilon, delta, RUNS[name], units=UNITS))
    chosen, quick = timed(lambda: calibrate_rounds(epsilon, delta, RUNS[name], units=UNITS, accountant="renyi"))
    return [name, epsilon, f"{delta:g}", noises(fixed), milliseconds(seconds), noises(chosen), milliseconds(quick)]


def main():
    composed_delta(1.0, calibrate_rounds(1.0, 1e-6, COARSE_TO_FINE[:1], units=UNITS))  # compiled, or loaded
    first = [accounts(name, 1.0, delta) for name in RUNS for delta in (1e-6, 1e-12)]
    second = [calibrations(name, epsilon, 1e-6) for name in RUNS for epsilon in (1.0, 4.0)]
    publish(
        "composition",
        f"ε at δ of runs calibrated to ε = 1, n = {UNITS:,}; CPU time. δ(ε) is one evaluation, × is how many "
        "times as long dp-accounting takes to compose.",
        markdown(
            ["run", "δ", "exact ε", "ε, distribution", "δ(ε) takes", "ε takes", "ε, Rényi", "takes",
             "ε, dp-accounting", "takes"],
            first,
        ),
        "Least noise for (ε, δ), parameters fixed in advance beside a Rényi filter's (chosen on the way).",
        markdown(["run", "ε", "δ", "fixed in advance", "takes", "Rényi filter", "takes"], second),
        "Asked for: ≤ 0.5 % above the exact ε; ≤ 0.3 s an evaluation for 4 rounds of 10⁴ draws; calibration ≤ 2 s "
        "for 8 rounds of 10⁴ draws.",
        command="python benchmarks/composition.py",
    )  # fmt: skip


if __name__ == "__main__":
    main()
