"""The linear program over *all* sets, for the tests of the noise design: the truth where 2^d is small."""

import numpy as np
from scipy.optimize import linprog


def proper_sets(d):
    """Return all non-empty proper subsets as 0/1 rows."""
    numbers = np.arange(1, 2**d - 1)
    return (numbers[:, None] >> np.arange(d) & 1).astype(float)


def worst_by_enumeration(noise, public, gamma):
    """Return Ψ over all sets S."""
    s = proper_sets(len(noise))
    return (np.minimum(s @ public + gamma, 1.0) - s @ noise).max()


def least_worst_case(public, floor, gamma, *, sets=None, cap=1.0):
    """Return f(floor) = min Ψ(P) over P ≥ floor; another cap or other sets give wrong variants."""
    d = len(public)
    s = proper_sets(d) if sets is None else sets
    answer = linprog(
        np.append(np.zeros(d), 1.0),
        A_ub=np.column_stack((-s, -np.ones(len(s)))),
        b_ub=-np.minimum(s @ public + gamma, cap),
        A_eq=[np.append(np.ones(d), 0.0)],
        b_eq=[1.0],
        bounds=[(floor, None)] * d + [(None, None)],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert answer.success
    return answer.fun
