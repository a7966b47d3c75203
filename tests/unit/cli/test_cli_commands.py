import json
import os
import stat
from pathlib import Path

import pytest

REFUSED = ["0", "-1", "nan", "", " ", "abc", "1,5", "1e400", "0x1", "1_0", "True", "None", "inf", "Infinity"]


@pytest.mark.parametrize("value", REFUSED)
@pytest.mark.parametrize("command", [("synth", "p.csv"), ("plan", "--n", "9")])
def test_bad_epsilons_are_refused_before_anything_runs(evomix, backend, command, value):
    answer = evomix(*command, "--epsilon", value)
    assert answer.code == 2
    assert f"epsilon={value!r}" in answer.err
    assert backend.asked == {}


def test_synth_passes_on_what_was_given_and_nothing_else(evomix, backend):
    answer = evomix(
        *(
            "synth",
            "p.csv",
            "--epsilon",
            "1e0",
            "--delta",
            "1e-6",
            "--public",
            "q.csv",
            "-o",
            "s.csv",
            "--rows",
            "10",
        ),
        *("--proximity", "0.25", "--seed", "3", "--resume", "--unit", "person", "--budget", "3:1e-5"),
    )
    assert answer.code == 0
    assert backend.asked["synth"] == {
        "private": Path("p.csv"),
        "epsilon": 1.0,
        "delta": 1e-6,
        "public": Path("q.csv"),
        "out": Path("s.csv"),
        "rows": 10,
        "proximity": 0.25,
        "seed": 3,
        "resume": True,
        "unit": "person",
        "budget": "3:1e-5",
    }


def test_flags_win_over_the_file(evomix, backend):
    evomix("synth", "p.csv", "--config", "run.toml", "--rows", "4")
    assert backend.asked["synth"] == {"private": Path("p.csv"), "epsilon": 3.0, "rows": 4}


def test_seed_zero_is_passed_on(evomix, backend):
    evomix("synth", "p.csv", "--epsilon", "1", "--seed", "0")
    assert backend.asked["synth"]["seed"] == 0


def test_synth_prints_the_answer_on_stdout_and_warnings_on_stderr(evomix, backend):
    answer = evomix("synth", "p.csv", "--epsilon", "1")
    assert answer.out.splitlines() == [
        "7 rows in s.csv",
        "epsilon=1.0 delta=1e-06 (replace-one, unit: row, mechanism: linmix)",
        f"report: {Path('s.run') / 'report.html'}",
    ]
    assert answer.err == "evomix: warning: income: odd\n"


def test_synth_json_is_one_object(evomix, backend):
    answer = evomix("synth", "p.csv", "--epsilon", "1", "--json")
    assert answer.json["privacy"]["adjacency"] == "replace-one"
    assert answer.json["out"] == "s.csv"
    assert answer.json["warnings"] == ["income: odd"]


def test_a_seeded_private_source_is_loud(evomix, backend):
    backend.private = False
    assert "NOT PRIVATE: epsilon=" in evomix("synth", "p.csv", "--epsilon", "1").out


@pytest.mark.parametrize(("value", "loud"), [("10", False), ("25", True), ("1e9", True)])
def test_large_epsilon_warns(evomix, value, loud):
    answer = evomix("plan", "--n", "100", "--epsilon", value, "--delta", "1e-6", "--json")
    assert answer.code == 0
    assert (f"epsilon={float(value):g} is large" in answer.err) == loud
    assert answer.json["epsilon"] == float(value)


def test_dry_run_plans_only(evomix, backend):
    answer = evomix("synth", "p.csv", "--epsilon", "1", "--dry-run", "--json")
    assert answer.json == {"draws": 5, "share": None}
    assert set(backend.asked) == {"dry_run"}


def test_plan(evomix, backend, tmp_path):
    histogram = tmp_path / "h.json"
    histogram.write_text("[0.5, 0.25, 1]")
    answer = evomix("plan", "--n", "100", "--epsilon", "2", "--public-histogram", histogram)
    assert backend.asked["plan"] == {"n": 100, "epsilon": 2.0, "public_histogram": [0.5, 0.25, 1.0]}
    assert answer.out.splitlines() == ["draws: 5", "candidates: 20", "per round: 1, 2"]


@pytest.mark.parametrize("text", [None, "{}", "[1, true]", '["1"]', "[1", "7"])
def test_plan_refuses_a_histogram_that_is_none(evomix, backend, tmp_path, text):
    histogram = tmp_path / "h.json"
    if text is not None:
        histogram.write_text(text)
    answer = evomix("plan", "--n", "100", "--epsilon", "2", "--public-histogram", histogram)
    assert answer.code == 2
    assert "public_histogram=" in answer.err
    assert backend.asked == {}


def test_evaluate_says_that_it_costs_everything(evomix, backend):
    answer = evomix("evaluate", "--real", "r.csv", "--synthetic", "s.csv", "--target", "y", "-o", "e.html")
    files, given = backend.asked["evaluate"]
    assert files == (Path("r.csv"), Path("s.csv"))
    assert given == {"public": None, "target": "y", "report": Path("e.html"), "schema": None, "seeds": 3}
    assert "epsilon is infinite" in answer.err
    assert "warning: few rows" in answer.err
    assert answer.out.splitlines() == [
        "distance to real rows (0 is best; floor: public rows)",
        "                        synthetic  ceiling  floor",
        "2-way total variation   0.123      0.010    -",
        "association difference  0.500      0.010    -",
        "models that predict y on 30 held-out real rows",
        "trained on      rows  macro f1       accuracy",
        "synthetic rows  7     0.500 ± 0.100  -",
        "guess           8     -              -",
        "report: e.html",
    ]


def test_evaluate_without_a_target_and_as_json(evomix, backend):
    answer = evomix("evaluate", "--real", "r.csv", "--synthetic", "s.csv", "--json")
    assert answer.json["fidelity"]["marginals"][0]["floor"] is None


def test_demo(evomix, backend, tmp_path):
    assert evomix("demo", "-o", tmp_path, "--json").json["out"] == str(tmp_path)
    answer = evomix("demo", "-o", tmp_path)
    assert answer.out.startswith(f"out: {tmp_path}\ndistance to real rows")


def test_ledger_grants_shows_and_resets(evomix, tmp_path):
    from evomix.privacy.ledger import Budget, Ledger

    assert "granted 3.0:1e-05" in evomix("ledger", "grant", "--dataset", "clinic", "--budget", "3:1e-5").out
    Ledger().open_run("r1", "clinic", Budget(1.0, 1e-6), fingerprint=None, spec_digest="d")
    shown = evomix("ledger", "show").out.splitlines()
    assert shown[0] == f"ledger: {tmp_path / 'ledger.sqlite'}"
    assert shown[1].split() == ["data", "set", "granted", "spent", "left", "runs"]
    assert shown[2].split() == ["clinic", "3.0:1e-05", "1.0:1e-06", "2.0:9e-06", "1"]
    (entry,) = evomix("ledger", "show", "--json").json["datasets"]
    assert entry["left"] == {"epsilon": 2.0, "delta": 9e-6}
    assert evomix("ledger", "reset", "--dataset", "clinic", "--yes", "--json").json["spent"]["epsilon"] == 0.0


@pytest.mark.parametrize(("reply", "code", "runs"), [("n\n", 2, 1), ("y\n", 0, 0), ("", 130, 1)])
def test_reset_asks_first(evomix, monkeypatch, reply, code, runs):
    import io

    from evomix.privacy.ledger import Budget, Ledger

    Ledger().open_run("r1", "clinic", Budget(1.0, 1e-6), fingerprint=None, spec_digest="d")
    monkeypatch.setattr("sys.stdin", io.StringIO(reply))
    answer = evomix("ledger", "reset", "--dataset", "clinic")
    assert answer.code == code
    assert "Forget 1 charges" in answer.err
    assert Ledger().balance("clinic").runs == runs


@pytest.mark.parametrize("budget", ["", "a:b", "0:1e-6", "1:1", "nan:0"])
def test_grant_refuses_what_is_no_budget(evomix, budget):
    answer = evomix("ledger", "grant", "--dataset", "clinic", "--budget", budget)
    assert answer.code == 2
    assert f"budget={budget!r}" in answer.err


def test_a_ledger_that_is_none_exits_4(evomix, tmp_path):
    (tmp_path / "ledger.sqlite").write_bytes(b"not a ledger at all" * 100)
    assert evomix("ledger", "show").code == 4


def test_schema_writes_and_prints(evomix, tmp_path):
    public = tmp_path / "public.csv"
    public.write_text("age,region\n20,north\n30,south\n40,north\n")
    printed = evomix("schema", public)
    assert [column["name"] for column in printed.json["columns"]] == ["age", "region"]
    out = tmp_path / "schema.json"
    assert evomix("schema", public, "-o", out).out == f"2 columns in {out}\n"
    assert json.loads(out.read_text()) == printed.json
    assert evomix("schema", public, "-o", out, "--json").json["columns"] == 2


def test_schema_of_a_missing_file_is_refused(evomix, tmp_path):
    answer = evomix("schema", tmp_path / "nowhere.csv")
    assert answer.code == 2
    assert "nowhere.csv" in answer.err


def test_doctor(evomix, tmp_path):
    answer = evomix("doctor", "--json")
    assert answer.code == 0, answer.out
    assert answer.json["ok"]
    assert "sampler" in answer.out
    assert not (tmp_path / "ledger.sqlite").exists()
    assert evomix("doctor").out.splitlines()[1].startswith("ok")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_doctor_notices_a_ledger_it_cannot_write(evomix, tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    answer = evomix("doctor", "--json")
    tmp_path.chmod(stat.S_IRWXU)
    assert answer.code == 4
