import json

import numpy as np
import pytest
from evaluation_tables import COLUMNS, Made, independent_rows, related_rows

from evomix.core.errors import SpecError
from evomix.evaluation import evaluate as module
from evomix.evaluation.evaluate import evaluate


def test_the_result_is_plain_json_and_reproducible():
    real, made = related_rows(300, 1), related_rows(200, 2)
    arguments = {"public": independent_rows(100, 3), "target": "group", "seeds": 1}
    found = evaluate(real, made, COLUMNS, **arguments)
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert text == json.dumps(evaluate(real, made, COLUMNS, **arguments).to_dict(), allow_nan=False)
    assert found.to_dict()["real_rows"] == 300
    assert "ε = ∞" in found.cost


def test_copies_come_first_among_warnings():
    real = related_rows(300, 1, rare=0.1)
    copied = real[real[:, 2] != 2.0]
    warnings = evaluate(real, copied, COLUMNS, target="group", seeds=1).warnings
    assert warnings[0].startswith("COPIES")
    assert any("categories lost" in warning for warning in warnings)
    assert any("lacks classes" in warning for warning in warnings)


def test_undefined_figures_become_null():
    row = np.array([[1.0]])
    found = evaluate(row, row, (Made("k", "integer", min=1, max=1),), target="k", seeds=1).to_dict()
    assert found["downstream"]["arms"] == []
    assert found["copies"]["control_distances"] == []
    json.dumps(found, allow_nan=False)


def test_no_private_value_that_the_schema_does_not_hold_is_in_the_result():
    real = related_rows(200, 1)
    real[0, 1] = 73.1234567
    assert "73.1234" not in json.dumps(evaluate(real, real, COLUMNS, seeds=1).to_dict())


def test_large_tables_are_sampled_but_copies_counted_in_full(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 50)
    real = related_rows(400, 1)
    found = evaluate(real, real[:200], COLUMNS)
    assert found.synthetic_rows == 200
    assert found.copies.copies.share == 1.0
    assert found.fidelity.marginals[0].mean > 0.0


@pytest.mark.parametrize(
    ("real", "synthetic", "seeds", "message"),
    [
        (np.empty((0, 4)), related_rows(5, 1), 1, "rows in the real table"),
        (related_rows(5, 1), np.empty((0, 4)), 1, "rows in the synthetic table"),
        (related_rows(5, 1), np.ones((5, 3)), 1, r"synthetic table.*shape=\(5, 3\)"),
        (related_rows(5, 1), related_rows(5, 1), 0, "seeds=0"),
    ],
)
def test_refusals_say_what_was_found(real, synthetic, seeds, message):
    with pytest.raises(SpecError, match=message):
        evaluate(real, synthetic, COLUMNS, seeds=seeds)


def test_a_table_of_identifiers_alone_has_nothing_to_compare():
    with pytest.raises(SpecError, match="at least one column"):
        evaluate(np.empty((3, 0)), np.empty((3, 0)), ())
