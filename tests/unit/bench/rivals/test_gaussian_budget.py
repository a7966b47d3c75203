import numpy as np
import pyarrow as pa
import pytest

from evomix.bench.rivals.gaussian_budget import gaussian_rho, gaussian_spending
from evomix.bench.rivals.resizing import resized
from evomix.bench.rivals.task import TableTask
from evomix.core.errors import SpecError
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema
from evomix.privacy.gaussian_accounting import gaussian_delta


def task(rows=5, private=10, adjacency="replace-one", epsilon=1.0):
    schema = Schema((Column("a", "category", values=("x", "y")),))
    table = pa.table({"a": ["x"] * private}, schema=pa.schema([("a", pa.string())]))
    return TableTask(table, None, schema, None, epsilon, 1e-6, rows, 0, adjacency)


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_answers_of_any_split_spend_epsilon_and_delta_exactly(adjacency):
    spending = gaussian_spending(task(adjacency=adjacency))
    shares = np.array([0.02, 0.5, 0.28, 0.2])
    noise = [spending.stddev(share * spending.total) for share in shares]
    for share in shares[:-1]:
        spending.measure(np.zeros(3), share * spending.total)
    spending.measure(np.zeros(3), spending.left)
    assert spending.left == pytest.approx(0.0, abs=1e-15)
    assert gaussian_delta(1.0, stddev=noise, adjacency=adjacency) == pytest.approx(1e-6, rel=1e-6)
    with pytest.raises(SpecError):
        spending.measure(np.zeros(3), 1e-6)


def test_rho_grows_with_both_and_exceeds_zero_concentrated_privacy():
    from evomix.bench.rivals.spending import rho_of

    assert gaussian_rho(2.0, 1e-6) > gaussian_rho(1.0, 1e-6) > gaussian_rho(1.0, 1e-7)
    assert 1.03 < gaussian_rho(1.0, 1e-9) / rho_of(1.0, 1e-9) < 1.3


@pytest.mark.parametrize("wrong", [{"rows": 0}, {"private": 0}, {"epsilon": -1.0}])
def test_a_task_without_rows_or_budget_is_refused(wrong):
    with pytest.raises(SpecError):
        gaussian_spending(task(**wrong))


@pytest.mark.parametrize(("count", "rows"), [(3, 10), (10, 3), (4, 4), (1, 5)])
def test_resizing_uses_every_row_alike(count, rows):
    picked = resized(count, rows, np.random.default_rng(0))
    uses = np.bincount(picked, minlength=count)
    assert len(picked) == rows
    assert uses.max() - uses.min() <= 1
