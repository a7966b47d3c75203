"""Every command as a user types it, and the same from Python."""

import csv
import json

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import evomix
from evomix.core.errors import SpecError


def _columns(path):
    match path.suffix:
        case ".csv" | ".tsv":
            with path.open(encoding="utf-8", newline="") as file:
                rows = list(csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
            return rows[0], len(rows) - 1
        case ".parquet":
            table = pq.read_table(path)
            return table.column_names, table.num_rows
        case _:
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            return list(rows[0]), len(rows)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl", "ndjson"])
def test_the_output_is_what_its_suffix_says(ordinary, suffix):
    answer = ordinary.run("synth", "in/private.csv", "--public", "in/public.csv", "--epsilon", 1, "--rows", 30,
                          "-o", f"made.{suffix}")  # fmt: skip
    assert answer.code == 0
    assert _columns(ordinary.folder / f"made.{suffix}") == (["age", "region", "plan", "income"], 30)
    run = ordinary.folder / "made.run"
    assert {path.name for path in run.iterdir()} == {
        "privacy.json",
        "spec.toml",
        "report.html",
        "events.jsonl",
        "checkpoint",
    }


def test_what_synth_prints_for_people_and_for_programs(ordinary):
    answer = ordinary.synth()
    assert answer.out.splitlines()[0] == "50 rows in out.csv"
    assert "epsilon=1.0 delta=1e-06 (replace-one, unit: one row, mechanism: gaussian)" in answer.out
    assert "stages: 2, each one release of all its counts\nstage 1: each column (" in answer.out
    told = ordinary.synth("--json").json
    assert (told["out"], told["rows"], told["privacy"]["epsilon"]) == ("out.csv", 50, 1.0)
    assert told["privacy"] == ordinary.privacy()
    assert told["plan"]["n"] == told["privacy"]["n"] == 120


def test_a_dry_run_plans_and_leaves_no_trace(ordinary):
    answer = ordinary.synth("--dry-run", "--json")
    assert answer.code == 0
    assert (answer.json["n"], answer.json["epsilon"], answer.json["mechanism"]) == (120, 1.0, "gaussian")
    assert answer.json["method"] == "marginals"
    voted = ordinary.synth("--dry-run", "--json", "--method", "votes").json
    assert (voted["method"], voted["mechanism"], voted["selection"]) == ("votes", "linmix", "subsample")
    assert ordinary.made() == []
    assert ordinary.spent() == []


def test_options_from_a_file_and_flags_that_win(ordinary):
    ordinary.write(
        "run.toml",
        'private = "in/private.csv"\npublic = "in/public.csv"\nout = "out.csv"\n'
        "epsilon = 0.5\ndelta = 1e-6\nrows = 20\n",
    )
    assert ordinary.run("synth", "--config", "in/run.toml", "--rows", 25).code == 0
    assert len(ordinary.rows()) == 25
    assert ordinary.privacy()["epsilon"] == 0.5
    # What a run leaves is a run file itself.
    assert ordinary.run("synth", "--config", "out.run/spec.toml", "--overwrite").code == 0
    assert ordinary.spent() == [1.0]
    ordinary.write("wrong.toml", "epsilons = 1\n")
    answer = ordinary.run("synth", "in/private.csv", "--config", "in/wrong.toml", "--epsilon", 1)
    assert (answer.code, "epsilons" in answer.err) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("synth",),
        ("synth", "in/private.csv"),
        ("synth", "in/private.csv", "--epsilon", "1", "--no-such"),
        ("nothing",),
        ("plan", "--epsilon", "1"),
        ("schema",),
        ("evaluate",),
        ("ledger", "grant", "--dataset", "d"),
    ],
)
def test_wrong_usage_is_refused_with_one_message(ordinary, words):
    answer = ordinary.run(*words)
    if not words:
        assert (answer.code, "synth" in answer.out) == (0, True)
        return
    assert answer.code == 2
    assert answer.err.startswith("evomix: ")
    assert "Traceback" not in answer.err
    assert ordinary.made() == []


def test_plan_costs_nothing_and_says_what_a_run_would(ordinary):
    answer = ordinary.run(
        "plan", "--n", 100_000, "--epsilon", 1, "--delta", "1e-6", "--rounds", 3, "--candidates", 2000, "--json"
    )
    assert answer.code == 0
    made = evomix.plan(n=100_000, epsilon=1.0, delta=1e-6, rounds=3, candidates=2000)
    assert answer.json["mixing_weight"] == made.mixing_weight
    assert answer.json["rounds"] == len(made.draws) == 3
    assert ordinary.made() == []


def test_schema_is_read_off_the_public_table_and_serves_a_run(ordinary):
    answer = ordinary.run("schema", "in/public.csv", "-o", "in/read.json")
    assert (answer.code, answer.out) == (0, "4 columns in in/read.json\n")
    printed = ordinary.run("schema", "in/public.csv")
    assert printed.json == json.loads((ordinary.folder / "in" / "read.json").read_text())
    assert [column["type"] for column in printed.json["columns"]] == ["integer", "category", "category", "integer"]
    assert len(ordinary.done("--schema", "in/read.json", public=None)) == 50


def test_evaluate_prints_figures_and_writes_a_page(ordinary, people):
    ordinary.write("held_out.csv", people(80, seed=3))
    ordinary.done(rows=80)
    words = (
        "evaluate",
        "--real",
        "in/held_out.csv",
        "--synthetic",
        "out.csv",
        "--public",
        "in/public.csv",
        "--target",
        "plan",
    )
    answer = ordinary.run(*words, "--seeds", 1, "-o", "evaluation.html")
    assert answer.code == 0
    assert "2-way total variation" in answer.out
    assert "held-out real rows" in answer.out
    page = (ordinary.folder / "evaluation.html").read_text()
    assert "</html>" in page
    figures = ordinary.run(*words, "--seeds", 1, "--json").json
    assert 0 < figures["fidelity"]["marginals"][1]["mean"] < 1


def test_the_ledger_keeps_a_budget_over_runs(ordinary):
    def shown():
        (entry,) = ordinary.run("ledger", "show", "--dataset", "survey", "--json").json["datasets"]
        return entry

    assert ordinary.run("ledger", "grant", "--dataset", "survey", "--budget", "1.5:1e-5").code == 0
    assert ordinary.synth("--dataset", "survey").code == 0
    assert (shown()["spent"]["epsilon"], shown()["runs"]) == (1.0, 1)
    out = (ordinary.folder / "out.csv").read_bytes()
    answer = ordinary.synth("--dataset", "survey")
    assert (answer.code, "survey" in answer.err) == (3, True)
    assert (ordinary.folder / "out.csv").read_bytes() == out
    assert shown()["spent"]["epsilon"] == 1.0
    assert ordinary.synth("--dataset", "survey", epsilon=0.5).code == 0
    assert ordinary.run("ledger", "reset", "--dataset", "survey", "--yes").code == 0
    assert ordinary.synth("--dataset", "survey").code == 0
    assert "survey" in ordinary.run("ledger", "show").out


def test_a_budget_on_the_command_line_is_kept_to(ordinary):
    assert ordinary.synth("--budget", "1:1e-5", epsilon=0.6).code == 0
    answer = ordinary.synth("--budget", "1:1e-5", epsilon=0.6)
    assert answer.code == 3
    assert ordinary.spent() == [0.6]


def test_doctor_finds_a_working_installation(ordinary):
    answer = ordinary.run("doctor", "--json")
    assert answer.code == 0
    assert answer.json["ok"] is True
    assert len(ordinary.run("doctor").out.splitlines()) == len(answer.json["checks"]) + 1


@pytest.mark.slow
def test_the_demo_makes_a_table_and_says_how_good_it_is(desk):
    answer = desk.run("demo", "--out", "demo", "--json")
    assert answer.code == 0
    told = answer.json
    assert told["guarantee"]["epsilon"] == 1.0
    assert told["mechanism"]["method"] == "marginals"
    ways = told["quality"]["fidelity"]["marginals"]
    assert all(way["ceiling"] < way["mean"] for way in ways)
    assert _columns(desk.folder / told["synthetic table"])[1] == told["rows"]
    for page in ("privacy report", "evaluation"):
        assert "</html>" in (desk.folder / told[page]).read_text()


def test_python_takes_frames_and_paths_alike(ordinary):
    private, public = (pd.read_csv(ordinary.folder / "in" / f"{name}.csv") for name in ("private", "public"))
    for given in (
        {"private": private, "public": public},
        {"private": pl.from_pandas(private), "public": pl.from_pandas(public)},
        {"private": "in/private.csv", "public": ordinary.folder / "in" / "public.csv"},
    ):
        result = evomix.synthesize(given["private"], public=given["public"], epsilon=1.0, delta=1e-6, rows=40)
        assert list(result.table.columns) == list(private.columns)
        assert len(result.table) == 40
        assert result.table["age"].dtype == pd.Int64Dtype()
        assert result.table["age"].between(18, 90).all()
        assert (result.privacy["epsilon"], result.privacy["n"]) == (1.0, 120)
    page = result.report("report.html")
    assert "</html>" in page.read_text()
    assert ordinary.made() == ["report.html"]


def test_a_fitted_synthesizer_samples_as_often_as_wanted_under_one_charge(ordinary):
    model = evomix.TableSynthesizer(epsilon=1.0, delta=1e-6, mechanism="linmix")
    with pytest.raises(SpecError, match="not fitted"):
        model.sample(10)
    model.fit("in/private.csv", public="in/public.csv")
    first, second = model.sample(200), model.sample(200)
    assert len(first) == len(second) == 200
    assert not first.equals(second)
    assert ordinary.spent() == [1.0]
    assert model.privacy["mechanism"] == "linmix"
    for rows in (0, -1, 2.5, True):
        with pytest.raises(SpecError, match="rows"):
            model.sample(rows)
    with pytest.raises(SpecError, match="epsilons"):
        evomix.TableSynthesizer(epsilon=1.0, epsilons=2.0)
