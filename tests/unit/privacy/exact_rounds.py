"""Rounds by plain enumeration: the slow and simple ways that the accounts of rounds that differ are held to."""

import itertools
import math

import mpmath
import numpy as np


def draw_pair(beta, units, first, second):
    """Return the worst pair of one draw; the other order of the two floors is the other order of the neighbours."""
    gap, one, two = (1 - beta) / units, beta * first, beta * second
    rest = 1 - one - two - gap
    return np.array([one + gap, two, rest]), np.array([one, two + gap, rest])


def product(*pairs):
    """Return the joint laws of independent pairs, all outcomes."""
    p = q = np.ones(1)
    for left, right in pairs:
        p, q = np.multiply.outer(p, left).ravel(), np.multiply.outer(q, right).ravel()
    return p, q


def divergence(epsilon, p, q):
    """Return E_{e^ε}(p ‖ q)."""
    return math.fsum(np.maximum(p - math.exp(epsilon) * q, 0.0))


def moment(tilt, p, q):
    """Return E_p[(p/q)^θ]."""
    return math.fsum(p * (p / q) ** tilt)


def walk_atoms(mixing):
    """Return {loss: probability} of a mixing round at its smallest floor, in 60 digits."""
    with mpmath.workdps(60):
        beta, floor = mpmath.mpf(mixing.mixing_weight), mpmath.mpf(mixing.floor)
        gap, base = (1 - beta) / mixing.units, beta * floor
        return _convolved(mpmath.log(1 + gap / base), base + gap, base, mixing.draws)


def response_atoms(scale):
    """Return {loss: probability} of a Laplace round: randomised response at 1/b, twice."""
    with mpmath.workdps(60):
        pure = 1 / mpmath.mpf(scale)
        right = 1 / (1 + mpmath.exp(-pure))
        return _convolved(pure, right, 1 - right, 2)


def _convolved(gain, up, down, steps):
    law = {}
    for ups, downs in itertools.product(range(steps + 1), repeat=2):
        if ups + downs <= steps:
            ways = mpmath.binomial(steps, ups) * mpmath.binomial(steps - ups, downs)
            mass = ways * up**ups * down**downs * (1 - up - down) ** (steps - ups - downs)
            law[ups - downs] = law.get(ups - downs, mpmath.mpf(0)) + mass
    return {gain * net: mass for net, mass in law.items()}


def exact_delta(epsilon, *laws, mu=0.0):
    """Return Σ over all sums of losses of their probability times (1 − e^{ε−l})₊, or times δ_µ(ε − l)."""
    with mpmath.workdps(60):
        total = mpmath.mpf(0)
        for atoms in itertools.product(*(law.items() for law in laws)):
            loss = mpmath.fsum(atom[0] for atom in atoms)
            mass = mpmath.fprod(atom[1] for atom in atoms)
            y = mpmath.mpf(epsilon) - loss
            total += mass * (_curve(y, mpmath.mpf(mu)) if mu else max(mpmath.mpf(0), 1 - mpmath.exp(y)))
        return total


def _curve(y, mu):
    def normal(x):
        return mpmath.erfc(-x / mpmath.sqrt(2)) / 2

    return normal(mu / 2 - y / mu) - mpmath.exp(y) * normal(-mu / 2 - y / mu)
