import math
from itertools import product

import pytest

from evomix.core.errors import UnsupportedAdjacency
from evomix.privacy.adjacency import ADJACENCIES, l1_sensitivity, l2_sensitivity, l2_sensitivity_squared

MASSES = [part for part in product(range(5), repeat=3) if sum(part) == 4]  # one unit as four quarter votes


def _moves(adjacency):
    others = MASSES if adjacency == "replace-one" else [(0, 0, 0)]
    return [[(a - b) / 4 for a, b in zip(one, other, strict=True)] for one in MASSES for other in others]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_sensitivities_bound_every_way_to_spread_a_vote_and_are_attained(adjacency):
    moves = _moves(adjacency)
    assert max(sum(map(abs, move)) for move in moves) == l1_sensitivity(adjacency)
    assert max(sum(x * x for x in move) for move in moves) == l2_sensitivity_squared(adjacency)


def test_the_figures():
    assert (l1_sensitivity("replace-one"), l1_sensitivity("add-remove")) == (2, 1)
    assert l2_sensitivity("add-remove") == 1.0
    assert l2_sensitivity("replace-one") == pytest.approx(math.sqrt(2))
    numerator, denominator = l2_sensitivity("replace-one").as_integer_ratio()
    assert numerator**2 > 2 * denominator**2  # rounded up


@pytest.mark.parametrize("function", [l1_sensitivity, l2_sensitivity, l2_sensitivity_squared])
def test_an_unknown_relation_is_refused_by_name(function):
    with pytest.raises(UnsupportedAdjacency, match="replace-one or add-remove; found adjacency='replace-all'"):
        function("replace-all")
