"""Stocked integers are the source's own: each is handed out once, and bounds are kept."""

import numpy as np

from evomix.audit.stock import StockedSource
from evomix.privacy.randomness import uniform_below


class Counter:
    """Gives consecutive integers, whatever the bounds, and notes how it was called."""

    secure = False

    def __init__(self):
        self.next, self.calls = 0, []

    def below(self, bounds):
        self.calls.append((int(bounds[0]) if bounds.size else 0, bounds.size))
        self.next += bounds.size
        return np.arange(self.next - bounds.size, self.next)


def test_no_integer_is_handed_out_twice_and_calls_are_few():
    counter = Counter()
    source = StockedSource(counter)
    drawn = np.concatenate([uniform_below(source, 100, size) for size in [1, 5, 40] * 10_000])
    assert len(np.unique(drawn)) == len(drawn) == 460_000
    assert len(counter.calls) == 2


def test_another_bound_gets_integers_of_its_own():
    counter = Counter()
    source = StockedSource(counter)
    for bound in (7, 9, 7):
        uniform_below(source, bound, 3)
    assert [bound for bound, _ in counter.calls] == [7, 9, 7]


def test_mixed_bounds_large_requests_and_none_go_straight_to_the_source():
    counter = Counter()
    source = StockedSource(counter)
    assert source.below(np.array([3, 4])).size == 2
    assert source.below(np.zeros(0, np.int64)).size == 0
    assert uniform_below(source, 5, 2**15).size == 2**15
    assert [size for _, size in counter.calls] == [2, 0, 2**15]
