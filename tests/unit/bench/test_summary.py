import math

import pytest

from evomix.bench.contest import Measured
from evomix.bench.cost import measured
from evomix.bench.results import Result, keep_result, key_of, load_results
from evomix.bench.summary import Mean, best_at, mean_of, near_best, summarise


def result(name, seed, score, *, epsilon=1.0):
    scores = {"accuracy": score, "wasserstein": score}
    return Result(f"{name}{epsilon}{seed}", name, epsilon, seed, 9, scores, 1.0, 1.0, None)


def test_the_error_is_that_of_the_mean():
    found = mean_of([1.0, 2.0, 3.0, 6.0])
    assert found.mean == 3.0
    assert found.error == pytest.approx(math.sqrt(14.0 / 3.0 / 4.0))
    assert mean_of([2.0]) == Mean(2.0, None)
    assert mean_of([None]) == Mean(None, None)


def test_lines_hold_all_repetitions_of_a_method_at_an_epsilon():
    lines = summarise([result("a", 0, 0.2), result("b", 0, 0.5), result("a", 1, 0.4), result("a", 0, 0.9, epsilon=2.0)])
    assert [(line.name, line.epsilon, line.repetitions) for line in lines] == [
        ("a", 1.0, 2),
        ("b", 1.0, 1),
        ("a", 2.0, 1),
    ]
    assert lines[0].scores["accuracy"].mean == pytest.approx(0.3)
    assert lines[0].peak_mb == Mean(None, None)


def test_the_best_is_that_of_the_epsilon_and_the_direction():
    held = [result("a", 0, 0.2), result("b", 0, 0.5)]
    lines = summarise([*held, result("c", 0, 0.9, epsilon=2.0), result("first", 0, 0.99, epsilon=None)])
    measures = (Measured("accuracy", "accuracy", "higher"), Measured("wasserstein", "W1", "lower"))
    assert best_at(lines, 1.0, measures) == {"accuracy": "b", "wasserstein": "a"}


def test_means_within_an_error_of_the_best_are_near_it():
    held = [result("a", 0, 0.50), result("a", 1, 0.60), result("b", 0, 0.52), result("b", 1, 0.50), result("c", 0, 0.4)]
    lines = summarise([*held, result("first", 0, 0.55, epsilon=None)])
    measures = (Measured("accuracy", "accuracy", "higher"), Measured("wasserstein", "W1", "lower"))
    # a: 0.55 ± 0.05, b: 0.51 ± 0.01, c: 0.40, exact.
    assert near_best(lines, 1.0, measures) == {"accuracy": ("a", "b"), "wasserstein": ("c",)}


def test_a_repetition_without_records_is_counted_apart():
    none = Result("x", "a", 1.0, 1, 0, {"accuracy": None, "wasserstein": None}, None, None, None, "over 5 s", 5.0)
    (line,) = summarise([result("a", 0, 0.2), none])
    assert (line.repetitions, line.rows, line.unable) == (1, 9, "over 5 s")
    assert line.scores["accuracy"].mean == 0.2
    assert result("a", 0, 0.2).holds(None)
    assert [none.holds(limit) for limit in (4.0, 5.0, 6.0, None)] == [True, True, False, False]


def test_a_key_is_of_all_settings_whatever_their_order():
    assert key_of({"a": 1, "b": 2.0}) == key_of({"b": 2.0, "a": 1})
    assert key_of({"a": 1}) != key_of({"a": 2})


def test_results_outlive_a_line_that_was_cut(tmp_path):
    one, other = result("a", 0, 0.5), result("a", 1, None)
    keep_result(tmp_path, one)
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"key": "half')
    keep_result(tmp_path, other)
    assert load_results(tmp_path) == {one.key: one, other.key: other}


def test_what_a_block_takes_is_told():
    with measured() as cost:
        held = bytearray(40_000_000)
        held[::4096] = b"x" * len(held[::4096])
    assert cost.wall_s > 0.0
    assert cost.cpu_s > 0.0
    assert cost.peak_mb is None or cost.peak_mb > 40.0
