"""Noise design: time at d = 10⁵, what the rules and the search are worth, and the exact optimum beside the closed form.

    python benchmarks/noise_design.py

Ratios are against an alternative in the same run: the better of water filling and MIFR over the same floors, LinMix
(uniform noise), and the certified lower bound. The exact search has 30 seconds a design.
"""

import itertools
import time

import numpy as np

from evomix.privacy.calibration import GRID, mixing_weight
from evomix.privacy.floor_raising import compare_donors, proportional_fill, raise_floor, water_fill
from evomix.privacy.noise_design import conform, design_noise, to_weights
from evomix.privacy.worst_case import psi_upper, worst_case_tv
from measuring import printed


def publics(d, rng):
    heavy = 1.0 / np.arange(1, d + 1) ** 1.1
    sparse = np.where(rng.random(d) < 0.3, rng.exponential(size=d), 0.0)
    sparse[0] += 1.0
    yield "zipf", rng.permutation(heavy / heavy.sum())
    yield "sparse", sparse / sparse.sum()
    yield "dirichlet(0.3)", rng.dirichlet(np.full(d, 0.3))


def timed(call, *args, repeats=3, **kwargs):
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        answer = call(*args, **kwargs)
        best = min(best, time.perf_counter() - start)
    return answer, best


def weight_at(floor, n):
    return mixing_weight(1.0, 1e-6, n=n, draws=10_000, floor=floor)


def better_of_two(public, gamma, n):
    d = public.size
    highest = (GRID // d) / GRID
    floors = np.geomspace(max(public.min(), 1e-3 * gamma / d), highest, 60)
    best = np.inf
    for floor in floors:
        worst = min(
            psi_upper(rule(public, floor=floor), public=public, proximity=gamma) for rule in (water_fill, raise_floor)
        )
        best = min(best, weight_at(floor, n) * worst)
    return best


def compare_designs(rng):
    print("Design: worst-case distance β·Ψ; ratio to the better of WF and MIFR on 60 floors, to LinMix, to the bound")
    for d, n in ((20, 2_000), (300, 20_000), (3_000, 200_000), (100_000, 5_000_000)):
        uniform = np.full(d, 1.0 / d)
        for (name, public), gamma in itertools.product(publics(d, rng), (0.05, 0.35)):
            design, seconds = timed(design_noise, public, proximity=gamma, epsilon=1.0, delta=1e-6, n=n, draws=10_000)
            two = better_of_two(public, gamma, n)
            linmix = weight_at((GRID // d) / GRID, n) * psi_upper(uniform, public=public, proximity=gamma)
            print(
                f"d={d:<7} {name:<15} γ={gamma:<5} t·d={design.floor * d:.4f} β={design.mixing_weight:.4f} "
                f"β·Ψ={design.objective:.5f} vs two {design.objective / two:.4f} "
                f"vs linmix {design.objective / linmix:.4f} "
                f"vs bound {design.objective / design.lower_bound:.4f} {design.rule:<17} {seconds:.3f} s"
            )


def time_calls(rng):
    print("One call at d = 10⁵")
    floor = 0.3e-5
    for name, public in publics(100_000, rng):
        for rule in (water_fill, proportional_fill, raise_floor):
            noise, raising = timed(rule, public, floor=floor)
            bound, bounding = timed(psi_upper, noise, public=public, proximity=0.35)
            times = f"{raising * 1e3:6.1f} ms  psi_upper {bounding * 1e3:6.1f} ms"
            print(f"{name:<15} {rule.__name__:<17} {times} -> {bound:.5f}")
        noise, conforming = timed(conform, public, floor=floor, proximity=0.35)
        _, weighing = timed(to_weights, noise, floor=floor)
        print(f"{name:<15} conform {conforming * 1e3:.1f} ms, to_weights {weighing * 1e3:.1f} ms")


def time_worst_case(rng):
    print("Ψ by dynamic programming: bound of one sort minus exact, time")
    for d in (50, 100, 200, 400, 10_000):
        for name, public in publics(d, rng):
            noise = water_fill(public, floor=0.4 / d)
            bound = psi_upper(noise, public=public, proximity=0.35)
            exact, seconds = timed(worst_case_tv, noise, public=public, proximity=0.35, repeats=1)
            print(f"d={d:<6} {name:<15} {bound - exact:.1e}  {seconds * 1e3:.0f} ms")


def compare_exact(rng):
    print("Exact optimum beside the closed form: β·Ψ, relative gaps to the certified bound, time")
    for d, n in ((10, 1_000), (100, 7_000), (300, 20_000), (1_000, 50_000), (10_000, 500_000)):
        counts = np.bincount(rng.choice(d, size=20 * d, p=rng.dirichlet(np.full(d, 0.3))), minlength=d)
        cases = [case for case in publics(d, rng) if case[0] != "sparse"]
        for (name, public), gamma in itertools.product([*cases, ("histogram", counts / counts.sum())], (0.05, 0.35)):
            arguments = {"proximity": gamma, "epsilon": 1.0, "delta": 1e-6, "n": n, "draws": max(n // 20, 500)}
            closed, quick = timed(design_noise, public, **arguments)
            exact, seconds = timed(design_noise, public, method="exact", time_limit_s=30.0, repeats=1, **arguments)
            print(
                f"d={d:<6} {name:<15} γ={gamma:<5} "
                f"closed form {closed.objective:.7f} gap {closed.gap / closed.objective:.1e} {quick:.3f} s   "
                f"exact {exact.objective:.7f} gap {exact.gap / exact.objective:.1e} {seconds:6.2f} s "
                f"better by {1 - exact.objective / closed.objective:.1e}"
            )


def donor_sets(rng):
    print(
        "MIFR's donors, greedy against least mass, 3 floors of each of 40 histograms: how often and by how much they "
        "differ, and Ψ (hence β·Ψ) of greedy relative to least mass where they do"
    )
    for d in (8, 20, 50, 200):
        differences, changes = [], {0.05: 0, 0.35: 0, 0.9: 0}
        largest = dict.fromkeys(changes, 0.0)
        for _ in range(40):
            counts = np.bincount(rng.choice(d, size=10 * d, p=rng.dirichlet(np.full(d, 0.3))), minlength=d)
            public = rng.dirichlet(np.ones(d)) if rng.random() < 0.5 else counts / counts.sum()
            for floor in (0.1 / d, 0.3 / d, 0.6 / d):
                found = compare_donors(public, floor=floor)
                differences.append(found.excess)
                if not found.differ:
                    continue
                for gamma in changes:
                    greedy, least = (
                        worst_case_tv(raise_floor(public, floor=floor, donors=donors), public=public, proximity=gamma)
                        for donors in ("greedy", "exact")
                    )
                    changes[gamma] += abs(greedy / least - 1) > 1e-6
                    largest[gamma] = max(largest[gamma], greedy / least - 1, key=abs)
        differ = np.array(differences) > 1e-9
        effect = "  ".join(f"γ={g}: {changes[g]} times, most {largest[g]:+.1e}" for g in changes)
        print(
            f"d={d:<4} differ {differ.mean():.0%}, mean excess then {np.mean(np.array(differences)[differ]):.4f}, "
            f"most {max(differences):.4f}; Ψ changes  {effect}"
        )


def main():
    rng = np.random.default_rng(0)
    compare_designs(rng)
    time_calls(rng)
    time_worst_case(rng)
    compare_exact(rng)
    donor_sets(rng)


if __name__ == "__main__":
    with printed("noise_design", command="python benchmarks/noise_design.py"):
        main()
