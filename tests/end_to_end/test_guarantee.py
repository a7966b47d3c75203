"""What a budget promises: it is checked, it has its effect, it is computed right and it names whom it protects."""

import itertools
import json
import math
import re

import numpy as np
import pytest
from scipy.stats import norm

from evomix import privacy
from evomix.neighbors.vectors import VectorIndex
from evomix.neighbors.votes import tally

MECHANISMS = ("auto", "linmix", "gaussian", "laplace")
NO_BUDGET = [
    "0",
    "0.0",
    "-0.0",
    "-1",
    "nan",
    "NaN",
    "",
    " ",
    "abc",
    "1,5",
    "1e400",
    "0x1",
    "True",
    "None",
    "inf",
    "Infinity",
]


@pytest.mark.parametrize("epsilon", NO_BUDGET)
def test_a_budget_that_is_no_positive_number_is_refused(ordinary, epsilon):
    ordinary.refused("epsilon", repr(epsilon), answer=ordinary.synth(epsilon=epsilon))
    ordinary.write(
        "run.toml", f'private = "in/private.csv"\npublic = "in/public.csv"\nepsilon = "{epsilon}"\nout = "out.csv"\n'
    )
    ordinary.refused("epsilon", answer=ordinary.run("synth", "--config", "in/run.toml"))


@pytest.mark.parametrize("epsilon", ["0", "nan", "inf", "-1.0", "true"])
def test_a_budget_of_a_run_file_is_checked_alike(ordinary, epsilon):
    ordinary.write(
        "run.toml", f'private = "in/private.csv"\npublic = "in/public.csv"\nepsilon = {epsilon}\nout = "out.csv"\n'
    )
    ordinary.refused("epsilon", answer=ordinary.run("synth", "--config", "in/run.toml"))


@pytest.mark.parametrize("delta", ["0", "1", "-1e-6", "nan", "word"])
def test_a_delta_outside_zero_to_one_is_refused(ordinary, delta):
    ordinary.refused("delta", answer=ordinary.synth(delta=delta))


@pytest.mark.parametrize(
    ("epsilon", "large"),
    [("1e0", False), ("0.1", False), ("25", True), ("1e9", True), ("1e-9", False), ("1e-300", False)],
)
def test_any_positive_budget_is_taken_as_it_is_and_a_large_one_is_warned_of(ordinary, epsilon, large):
    answer = ordinary.synth(epsilon=epsilon)
    assert answer.code == 0
    assert ordinary.privacy()["epsilon"] == float(epsilon)
    assert ordinary.spent() == [float(epsilon)]
    assert ("is large" in answer.err) == large


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_budget_reaches_the_noise(desk, mechanism):
    # 10 runs each: at ε = 8 the share is near the truth, at ε = 0.05 it is several times farther off.
    desk.write("private.csv", "plan\n" + "basic\n" * 285 + "plus\n" * 9 + "pro\n" * 6)
    desk.write("public.csv", "plan\nbasic\nplus\npro\n")
    errors = {}
    for epsilon in (0.05, 8):
        shares = [
            [row["plan"] for row in desk.done("--mechanism", mechanism, epsilon=epsilon, rows=1000)].count("basic")
            / 1000
            for _ in range(10)
        ]
        assert len(set(shares)) > 1
        errors[epsilon] = np.mean(np.abs(np.array(shares) - 0.95))
    assert errors[8] < 0.05
    assert errors[0.05] > 3 * errors[8]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--draws", "500", "--mechanism", "gaussian"), "draws=500"),
        (("--draws", "500", "--mechanism", "laplace"), "draws=500"),
        (("--proximity", "0.3", "--mechanism", "linmix"), "proximity=0.3"),
        (("--proximity", "0.3", "--mechanism", "gaussian"), "proximity=0.3"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(ordinary, options, named):
    ordinary.refused(named, "no effect", answer=ordinary.synth(*options))


def test_a_word_that_only_one_person_has_is_seen_nowhere(ordinary, people):
    heard = set()
    for rows in (people(120), [*people(120), {"age": 50, "region": "Quenlyburgh", "plan": "basic", "income": 40_000}]):
        ordinary.write("private.csv", rows)
        for mechanism, options in itertools.product(MECHANISMS, ((), ("--schema", "in/schema.json"))):
            # A name each: a large sum of earlier charges would be warned of.
            name = f"{len(rows)} {mechanism} {len(options)}"
            answer = ordinary.synth("--mechanism", mechanism, "--debug", "--dataset", name, *options)
            heard.add((mechanism, len(options), answer.code, answer.err))
            assert {row["region"] for row in ordinary.rows()} <= {"north", "south", "east", "west"}
    assert len(heard) == 2 * len(MECHANISMS)
    assert b"Quenlyburgh" not in ordinary.traces()


def test_nothing_that_a_run_leaves_quotes_a_private_cell(desk):
    secret = [{"name": f"Qorvane {k:03}", "city": "Ostby" if k % 2 else "Mellin", "income": 73_190_000 + k,
               "note": f"CANARY-note-{k:03} likes tea"} for k in range(60)]  # fmt: skip
    desk.write("private.csv", secret)
    # The public incomes end below the private ones, so that no synthetic one can look like a private one by chance.
    open_rows = "Ann Example,Ostby,0,likes tea\nBob Example,Mellin,9999999,likes coffee\n" * 5
    desk.write("public.csv", "name,city,income,note\n" + open_rows)
    for mechanism in MECHANISMS:
        assert len(desk.done("--mechanism", mechanism, "--debug", "--json", delta="1e-4", rows=30)) == 30
    assert not re.search(rb"Qorvane|CANARY|(?<!\d)7319\d{4}(?!\d)", desk.traces())


def test_without_a_seed_runs_differ_and_a_seed_does_not_govern_the_noise(ordinary):
    assert ordinary.done() != ordinary.done()
    first, second = ordinary.done("--seed", 7), ordinary.done("--seed", 7)
    assert first != second
    assert ordinary.privacy()["private"] is True
    assert ordinary.privacy()["seed"] == 7


def test_many_rows_of_one_person_are_named_and_protected_together(desk, people):
    rows = [row | {"user_id": f"USR-q{k % 40:04}"} for k, row in enumerate(people(200))]
    desk.write("private.csv", rows)
    desk.write("public.csv", [row | {"user_id": f"P{k}"} for k, row in enumerate(people(30, seed=1))])
    answer = desk.synth()
    assert answer.code == 0
    assert "'user_id'" in answer.err
    assert (desk.privacy()["unit"], desk.privacy()["n"]) == ("one row", 200)
    for mechanism in MECHANISMS:
        assert "user_id" not in desk.done("--mechanism", mechanism, "--unit", "user_id")[0]
        assert (desk.privacy()["unit_column"], desk.privacy()["n"]) == ("user_id", 40)
        assert "user_id" in (desk.folder / "out.run" / "report.html").read_text()
    assert b"USR-q" not in desk.traces()
    refused = desk.synth("--unit", "no_such")
    assert (refused.code, "no_such" in refused.err) == (2, True)


# σ, releases, δ and the exact ε of T Gaussian releases of ℓ2 sensitivity 1 (mpmath, 420 digits).
GAUSSIAN = [(2.8284271247461903, 5, 1e-5, 3.341409469), (1.4142135623730951, 20, 1e-5, 17.85658683),
            (1.0, 1, 1e-5, 4.377178096), (1.0, 1, 1e-6, 4.886554117)]  # fmt: skip


@pytest.mark.parametrize(("stddev", "rounds", "delta", "exact"), GAUSSIAN)
def test_the_epsilon_of_gaussian_releases_is_the_exact_one_rounded_up(stddev, rounds, delta, exact):
    found = privacy.gaussian_epsilon(delta, stddev=stddev, rounds=rounds, adjacency="add-remove")
    assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-6)


def test_the_reported_noise_of_all_stages_gives_the_reported_epsilon(ordinary):
    ordinary.done("--target", "income")
    told = ordinary.privacy()
    stages = [release["stddev"] for release in told["releases"]]
    assert len(stages) == 4
    # One Gaussian of the same sum of 1/σ², by the textbook formula; replacing a unit moves √2 in each column set.
    strength = math.sqrt(sum(2.0 / stddev**2 for stddev in stages))
    spent = norm.cdf(strength / 2 - told["epsilon"] / strength) - math.exp(told["epsilon"]) * norm.cdf(
        -strength / 2 - told["epsilon"] / strength
    )
    assert 0.999 * told["delta"] <= spent <= told["delta"]
    events = [json.loads(line) for line in (ordinary.folder / "out.run" / "events.jsonl").read_text().splitlines()]
    for event, release in zip(events, told["releases"], strict=True):
        assert event["column_sets"] == release["column_sets"]
        assert event["stddev"] >= release["stddev"] * math.sqrt(release["column_sets"])


def test_the_reported_noise_gives_the_reported_epsilon(ordinary):
    ordinary.done("--mechanism", "gaussian", "--rounds", 3)
    told = ordinary.privacy()
    spent = privacy.gaussian_epsilon(told["delta"], stddev=told["stddev"], rounds=told["rounds"])
    assert 0.999 <= spent <= told["epsilon"]
    ordinary.done("--mechanism", "linmix")
    told = ordinary.privacy()
    spent = privacy.delta(
        told["epsilon"], mixing_weight=told["mixing_weight"], n=told["n"], draws=told["draws"], floor=told["floor"]
    )
    assert 0.9 * told["delta"] <= spent <= told["delta"]


@pytest.mark.parametrize(
    ("epsilon", "delta", "rounds", "exact"),
    [
        (0.1, 1e-6, 1, 36.30469043),
        (0.1, 1e-6, 10, 114.8055115),
        (1.0, 1e-5, 1, 3.730631635),
        (0.01, 1e-5, 20, 1090.241621),
        (0.001, 1e-5, 1, 1724.259034),
        (0.001, 1e-5, 20, 7711.12082),
    ],
)
def test_noise_found_for_a_target_never_spends_more_and_hardly_less(epsilon, delta, rounds, exact):
    stddev = privacy.gaussian_stddev(epsilon, delta, rounds=rounds, adjacency="add-remove")
    assert exact * (1 - 1e-9) <= stddev <= exact * 1.0001
    back = privacy.gaussian_epsilon(delta, stddev=stddev, rounds=rounds, adjacency="add-remove")
    assert 0.9999 * epsilon <= back <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_tiny_budget_ends_soon_and_says_that_little_is_left(ordinary, ordinary_row, people, mechanism):
    ordinary.write("private.csv", people(8))
    answer = ordinary.synth("--mechanism", mechanism, epsilon=0.01, delta="1e-5")
    assert answer.code == 0
    assert "little signal" in answer.err
    assert all(map(ordinary_row, ordinary.rows()))


@pytest.mark.parametrize("selection", ["subsample", "rank"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_when_noise_drowns_all_votes_the_rows_asked_for_still_come(
    ordinary, ordinary_row, people, mechanism, selection
):
    ordinary.write("private.csv", people(20))
    answer = ordinary.synth("--mechanism", mechanism, "--selection", selection, "--candidates", 400, "--rounds", 3,
                            epsilon=0.05, delta="1e-5", rows=100)  # fmt: skip
    assert answer.code == 0
    assert "little signal" in answer.err
    assert len(ordinary.rows()) == 100
    assert all(map(ordinary_row, ordinary.rows()))
    assert ordinary.spent() == [0.05]


POINTS = {
    "copies": ([[0, 0.1], [0, 0.1], [1, 0], [1, 0], [5, 5]], [[0, 0], [0, 0.2], [1, 0.1], [5, 5]]),
    "all in one place": ([[1, 1]] * 6, [[1, 1]] * 7),
    "equally far": ([[1, 0], [-1, 0], [0, 1], [0, -1]], [[0, 0]] * 8),
    "far from the origin": ([[1e5, 1], [1e5, 1.001], [1e5, 2]], [[1e5, 1.0004], [1e5, 1.9]]),
    "zero vectors": ([[0, 0], [1, 0]], [[0, 0], [0, 0], [1, 0]]),
}


@pytest.mark.parametrize("metric", ["l2", "cosine"])
@pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
def test_ties_and_copies_never_give_anyone_more_than_one_vote(points, metric):
    candidates, private = (np.array(part, dtype=float) for part in points)
    index = VectorIndex(candidates, metric=metric)
    for count in (1, 2):
        nearest = index.nearest(private, count)
        votes = tally(nearest, len(candidates), mass=2)
        assert votes.sum() == 2 * len(private)
        for row in nearest:
            assert tally(row[None], len(candidates), mass=2).max() <= 2
        assert np.array_equal(tally(index.nearest(private[::-1], count), len(candidates), mass=2), votes)
