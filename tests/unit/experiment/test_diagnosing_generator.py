"""The diagnosis of a table's generator: what its variations reach, from public rows alone."""

import json

import numpy as np
import pyarrow as pa
import pytest
from experiment_tables import CONSTANT, SCHEMA, TINY, jobs, people, points

from evomix.core.errors import SchemaError, SpecError
from evomix.experiment import diagnosing_generator as module
from evomix.experiment.diagnosing_generator import EVEN, LEAST_ROWS, OWN, diagnose_generator
from evomix.experiment.generator_findings import verdict, warnings

SMALL = {"points": 40, "variations": 16, "rounds": 6}


@pytest.fixture(scope="module")
def found():
    return diagnose_generator([people(400, seed=1)], schema=SCHEMA, **SMALL)


def test_a_good_generator_gets_there(found):
    assert (found["public_rows"], found["held_out"], found["variations"], found["rounds"]) == ([400], 40, 16, 6)
    own, even = found["approaches"]
    assert (own["from"], even["from"]) == (OWN, EVEN)
    assert len(even["curve"]) == 7
    assert even["start"]["value"] > own["start"]["value"]  # random records are farther than public rows
    assert even["end"]["value"] < found["ceiling"]["value"] < even["start"]["value"]
    assert even["rounds_needed"] <= 6
    assert (own["stalled"]["value"], even["stalled"]["value"]) == (0.0, 0.0)
    assert "gets there" in found["verdict"]
    assert not any("local optimum" in warning for warning in found["warnings"])


def test_every_figure_has_an_interval_about_it(found):
    told = [one[name] for one in found["scales"] for name in ("length", "rank", "constant", "participation")]
    told += [step for one in found["scales"] for step in one["best_of"].values()]
    told += [one[name] for one in found["approaches"] for name in ("start", "end", "reached", "stalled", "contraction")]
    told.append(found["ceiling"])
    for one in told:
        low, high = one["interval"]
        assert low <= one["value"] <= high
    rank = found["scales"][0]["rank"]
    assert rank["low"] <= rank["value"] <= rank["high"]
    assert list(found["scales"][0]["best_of"]) == ["1", "4", "16"]


def test_a_seed_makes_it_repeatable(found):
    again = diagnose_generator([people(400, seed=1)], schema=SCHEMA, **SMALL)
    assert json.dumps(again) == json.dumps(found)
    other = diagnose_generator([people(400, seed=1)], schema=SCHEMA, **SMALL, seed=7)
    assert other["approaches"][0]["curve"] != found["approaches"][0]["curve"]


def test_the_generator_never_sees_its_targets(monkeypatch):
    seen = []

    def build(schema, rows, *, target):
        seen.append(set(rows["x"].to_pylist()))
        return original(schema, rows, target=target)

    original = module.build_table_modality
    monkeypatch.setattr(module, "build_table_modality", build)
    ground = module._ground(
        module.read_public(
            [pa.table({"x": np.arange(200.0), "y": np.arange(200.0)})], None, unit=None, encoding="utf-8"
        ),
        60,
        np.random.default_rng(0),
    )
    (kept,) = seen
    held = set(ground.targets[:, 0].tolist())
    assert len(held) == 50  # a quarter at most
    assert kept | held == set(np.arange(200.0))
    assert not kept & held
    assert not held & set(ground.modality.public[:, 0].tolist())


def test_a_schema_alone_tells_ranks_and_says_why_nothing_is_reached():
    found = diagnose_generator(schema=SCHEMA, **SMALL)
    assert (found["public_rows"], found["approaches"], found["ceiling"]) == ([], [], None)
    assert all(one["rank"]["value"] >= 1.0 for one in found["scales"])
    assert any(f"at least {LEAST_ROWS} public rows" in warning for warning in found["warnings"])
    assert "takes public rows" in found["verdict"]


@pytest.mark.parametrize("rows", [1, 2, LEAST_ROWS - 1])
def test_too_few_rows_to_hold_any_out_are_said_to_be_few(rows):
    found = diagnose_generator([people(rows)], schema=SCHEMA, **SMALL)
    assert (found["held_out"], found["approaches"]) == (0, [])
    assert any(f"found {rows}" in warning for warning in found["warnings"])
    assert diagnose_generator([people(LEAST_ROWS)], schema=SCHEMA, **SMALL)["held_out"] == 10


def test_a_schema_of_one_record_has_nothing_to_vary():
    found = diagnose_generator(schema=CONSTANT, **SMALL)
    assert (found["scales"], found["points"], found["theorem"]) == ([], 0, None)
    assert "nothing to say" in found["verdict"]
    rows = diagnose_generator([jobs(60, values=("a",))], schema=CONSTANT, **SMALL)
    assert rows["approaches"][1]["curve"] == [0.0] * 7


@pytest.mark.parametrize(
    "table",
    [
        jobs(90),
        pa.table({"x": np.arange(90) % 17}),
        pa.table({"x": [3] * 90, "y": np.arange(90) / 7}),
        points(90, 1, 2),
        pa.table({"a": [f"v{i}" for i in range(90)], "b": [f"w{i % 40}" for i in range(90)]}),
    ],
    ids=["one category", "one number", "a constant column", "one row repeated", "categories only"],
)
def test_small_and_even_degenerate_tables_are_answered(table):
    found = diagnose_generator([table], **SMALL)
    assert found["verdict"]
    assert all(value >= 0.0 for one in found["approaches"] for value in one["curve"])


def test_tiny_domains_are_found_exactly():
    found = diagnose_generator([jobs(90)], schema=TINY, **SMALL)
    assert found["approaches"][1]["end"]["value"] == 0.0
    assert found["approaches"][1]["reached"]["value"] == 1.0


def test_a_generator_that_does_not_move_is_found_out(monkeypatch):
    monkeypatch.setattr(module.TableGenerator, "vary", lambda self, parents, scale, rng: parents.copy())
    found = diagnose_generator([people(400, seed=1)], schema=SCHEMA, **SMALL)
    assert found["approaches"][1]["stalled"]["value"] > 0.5
    assert "it stalls" in found["verdict"]
    assert any("makes no other records" in warning for warning in found["warnings"])
    assert all(one["rank"]["value"] != one["rank"]["value"] for one in found["scales"])  # NaN: no variance, no rank


def test_a_generator_that_cannot_reach_is_warned_about(monkeypatch):
    original = module.TableGenerator.vary

    def ages_only(self, parents, scale, rng):
        varied = original(self, parents, scale, rng)
        varied[:, 1:] = np.asarray(parents)[:, 1:]
        return varied

    monkeypatch.setattr(module.TableGenerator, "vary", ages_only)
    found = diagnose_generator([people(400, seed=1)], schema=SCHEMA, **SMALL)
    assert "it stalls" in found["verdict"]
    assert any("local optimum" in warning and "--schedule multiscale" in warning for warning in found["warnings"])


def _told(**changes):
    one = {"from": EVEN, "stalled": {"value": 0.0, "interval": [0.0, 0.0]}, "rounds_needed": 3} | changes
    scale = {"length": {"value": 1.0}, "unreachable": 0.0, "drift": 0.0}
    return {"scales": [scale], "approaches": [one], "rounds": 6, "public_rows": [400], "variations": 16}


def test_the_verdict_follows_the_figures():
    assert verdict(_told()).startswith("it gets there: from random records, after 3 round(s)")
    assert verdict(_told(rounds_needed=0)).startswith("it gets there")
    assert "about 40 rounds" in verdict(_told(rounds_needed=40))
    assert verdict(_told(rounds_needed=None)).startswith("it does not get there")
    stalls = _told(stalled={"value": 0.2, "interval": [0.1, 0.3]})
    assert verdict(stalls).startswith("it stalls: from random records, 20 % (10 to 30)")
    assert list(warnings(_told(), least_rows=40)) == []
    assert len(list(warnings(stalls, least_rows=40))) == 1
    far = _told()
    far["scales"][0] |= {"unreachable": 0.3, "drift": 2.0}
    assert ["λ = ∞" in text or "mean is farther" in text for text in warnings(far, least_rows=40)] == [True, True]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"points": 1}, "points=1"),
        ({"variations": 7}, "variations=7"),
        ({"rounds": 0}, "rounds=0"),
        ({"seed": -1}, "seed=-1"),
        ({"points": 10_000, "variations": 4096}, "points=10000 times variations=4096"),
    ],
)
def test_settings_out_of_range_are_refused(settings, named):
    with pytest.raises(SpecError, match=named):
        diagnose_generator([people(50)], schema=SCHEMA, **settings)


def test_inputs_that_do_not_fit_are_refused():
    with pytest.raises(SpecError, match="public table, or give a schema"):
        diagnose_generator()
    with pytest.raises(SchemaError):
        diagnose_generator([jobs(50)], schema=SCHEMA)
