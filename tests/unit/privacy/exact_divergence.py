"""Slow and plain: hockey-stick divergences by enumeration, and of the three-outcome pair in many digits."""

import itertools
import math

import mpmath

DIGITS = 60
ALLOWANCE = mpmath.mpf(32) / 2**53  # of k·a + (N−k)·b: what the bound may add to a loss (docs/proofs/mixing.md, 4)


def multinomials(probabilities, draws):
    """All outcome counts and their probabilities."""
    size = len(probabilities)
    for counts in itertools.product(range(draws + 1), repeat=size):
        if sum(counts) == draws:
            ways = math.factorial(draws) / math.prod(math.factorial(c) for c in counts)
            yield ways * math.prod(p**c for p, c in zip(probabilities, counts, strict=True))


def divergence(p, q, draws, epsilon):
    """E_{e^ε} of ``draws`` draws from p against as many from q, over all outcome counts."""
    return sum(
        max(a - math.exp(epsilon) * b, 0.0) for a, b in zip(multinomials(p, draws), multinomials(q, draws), strict=True)
    )


def product_divergence(pairs, epsilon):
    """E_{e^ε} of one draw from each pair, over all sequences of outcomes."""
    total = 0.0
    for outcomes in itertools.product(*(range(len(p)) for p, _ in pairs)):
        left = math.prod(p[i] for (p, _), i in zip(pairs, outcomes, strict=True))
        right = math.prod(q[i] for (_, q), i in zip(pairs, outcomes, strict=True))
        total += max(left - math.exp(epsilon) * right, 0.0)
    return total


def one_order(epsilon, draws, gap, one, two, allowance=0):
    """E_{e^ε} of the m-fold pair (one + gap, two, rest), (one, two + gap, rest) over all counts, in many digits.

    With ``allowance``, each loss is raised by that share of k·a + (N−k)·b first: the most that the bound may give.
    """
    with mpmath.workdps(DIGITS):
        epsilon, gap, one, two = (mpmath.mpf(x) for x in (epsilon, gap, one, two))
        if one == 0:  # outcome 1 happens under P alone
            return 1 - (1 - gap) ** draws
        rest = 1 - one - two - gap
        a, b = mpmath.log1p(gap / one), mpmath.log1p(gap / two)
        total = mpmath.mpf(0)
        for i, j in itertools.product(range(draws + 1), repeat=2):
            loss = i * a - j * b + allowance * (i * a + j * b)
            if i + j > draws or loss <= epsilon:
                continue
            ways = mpmath.binomial(draws, i) * mpmath.binomial(draws - i, j) * rest ** (draws - i - j)
            total += ways * (one + gap) ** i * two**j * -mpmath.expm1(epsilon - loss)
        return total


def exact_pair(epsilon, draws, gap, bases, allowance=0):
    """The larger of both orders."""
    return max(one_order(epsilon, draws, gap, *order, allowance) for order in {tuple(bases), tuple(bases[::-1])})


def vote_pair(beta, n, floors):
    """(gap, bases) of votes mixed with noise, in many digits."""
    with mpmath.workdps(DIGITS):
        beta = mpmath.mpf(beta)
        return (1 - beta) / n, (beta * floors[0], beta * floors[1])


def exact_delta(epsilon, beta, n, draws, floors, allowance=0):
    """δ(ε) of votes of n units, in many digits."""
    gap, bases = vote_pair(beta, n, floors)
    return exact_pair(epsilon, draws, gap, bases, allowance)
