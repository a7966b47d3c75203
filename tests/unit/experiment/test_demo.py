import sys

import numpy as np
import pytest

from evomix.core.errors import EnvironmentFailure
from evomix.experiment.demo import TARGET, load_health_insurance, split_rows


@pytest.fixture(scope="module")
def table():
    return load_health_insurance()


def test_the_table_is_the_published_one(table):
    assert table.num_rows == 20_190
    assert TARGET in table.column_names
    assert set(table.column(TARGET).to_pylist()) == {"yes", "no"}
    assert "visits" not in table.column_names  # the target would be read off it
    assert table.schema.field("individual_deductible").type == "int64"


def test_nobody_is_in_two_parts_and_the_parts_are_the_same_each_time(table):
    parts, again = split_rows(table), split_rows(table)
    everyone = np.concatenate(list(parts.values()))
    assert len(everyone) == len(set(everyone)) == 20_190
    assert {name: len(rows) for name, rows in parts.items()} == {"public": 2019, "private": 10_095, "held_out": 8076}
    for name, rows in parts.items():
        np.testing.assert_array_equal(rows, again[name])


def test_the_public_part_has_too_many_of_the_ill(table):
    ill = table.column("chronic_diseases").to_numpy()
    means = {name: ill[rows].mean() for name, rows in split_rows(table).items()}
    assert means["public"] > 1.3 * means["private"]
    assert means["held_out"] == pytest.approx(means["private"], rel=0.05)


def test_without_the_table_the_demo_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.datasets", None)
    with pytest.raises(EnvironmentFailure, match=r"evomix\[demo\]"):
        load_health_insurance()
