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
            "--public",
            "r.csv",
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
        "public": [Path("q.csv"), Path("r.csv")],
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


def _charge(name, *, unit="one row", **settings):
    from evomix.privacy.ledger import Budget, Ledger

    Ledger().open_run(name, "/data/p.csv", Budget(1.0, 1e-6), fingerprint=None, spec_digest="d", unit=unit, **settings)


@pytest.mark.parametrize(
    ("figures", "line"),
    [({"stddev": 11.94}, "σ = 11.9 units"), ({"scale": 4.0}, "Laplace of scale 4 units")],
)
def test_synth_says_how_noisy_a_vote_is(evomix, backend, figures, line):
    backend.privacy.pop("mixing_weight")
    backend.privacy.update(figures)
    out = evomix("synth", "p.csv", "--epsilon", "1").out
    assert f"noise on a vote: {line}\n" in out
    assert "share of noise" not in out


def test_synth_says_what_all_runs_have_spent(evomix, backend):
    from evomix.privacy.ledger import Budget

    for name in "abc":
        _charge(name, grant=Budget(10.0, 1e-5))
    out = evomix("synth", "p.csv", "--epsilon", "1").out
    assert "this data set has now spent ε = 3, δ = 3e-06 of the granted ε = 10, δ = 1e-05 in 3 runs\n" in out


def test_costs_that_protect_different_units_are_not_added(evomix, backend):
    _charge("a")
    _charge("b", unit="all rows with one value of 'person'")
    out = evomix("synth", "p.csv", "--epsilon", "1").out
    assert "2 runs that do not all protect the same" in out
    assert "has now spent" not in out


def test_a_run_that_is_done_does_not_fail_with_its_ledger(evomix, backend, tmp_path):
    (tmp_path / "ledger.sqlite").write_bytes(b"not a ledger at all" * 100)
    answer = evomix("synth", "p.csv", "--epsilon", "1")
    assert answer.code == 0
    assert "7 rows in s.csv" in answer.out


def test_synth_prints_the_answer_on_stdout_and_warnings_on_stderr(evomix, backend):
    _charge("a")
    answer = evomix("synth", "p.csv", "--epsilon", "1")
    assert answer.out.splitlines() == [
        "7 rows in s.csv",
        "epsilon=1.0 delta=1e-06 (replace-one, unit: one row, mechanism: linmix)",
        "share of noise in a draw: 77 %",
        "this data set has now spent ε = 1, δ = 1e-06 in 1 run",
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
    assert (f"epsilon={float(value)!r} is large" in answer.err) == loud
    assert answer.json["epsilon"] == float(value)


def test_dry_run_plans_only(evomix, backend):
    backend.plan["signal"] = float("nan")
    answer = evomix("synth", "p.csv", "--epsilon", "1", "--dry-run", "--json")
    selecting = {"selection": "gape", "denoising": "signed", "schedule": "geometric", "threshold": 2.0, "radius": None}
    assert answer.json == {**backend.plan, "signal": None, "ledger": "/l.sqlite", **selecting}
    assert set(backend.asked) == {"dry_run"}


def test_dry_run_reads_like_a_plan(evomix, backend):
    answer = evomix("synth", "p.csv", "--epsilon", "1", "--dry-run")
    assert "draws: 5 + 2 × 4\n" in answer.out
    assert answer.out.endswith("ledger: /l.sqlite\n")
    assert answer.out.startswith(
        "method: votes for candidates\n"
        "selection: gape, denoising signed, schedule geometric, threshold 2 standard deviations of the noise, "
        "radius from the candidates\n"
    )
    assert "public rows" not in answer.out
    assert answer.err == "evomix: warning: few units\n"


def test_plan(evomix, backend, tmp_path):
    histogram = tmp_path / "h.json"
    histogram.write_text("[0.5, 0.25, 1]")
    answer = evomix("plan", "--n", "100", "--epsilon", "2", "--public-histogram", histogram)
    assert backend.asked["plan"] == {"n": 100, "epsilon": 2.0, "public_histogram": [0.5, 0.25, 1.0]}
    assert answer.err == "evomix: warning: few units\n"
    assert answer.out.splitlines() == [
        "method: votes for candidates",
        "private units: 100",
        "privacy: ε = 2, δ = 1e-06 (replace-one)",
        "mechanism: linmix",
        "public rows: assumed at hand, as the histogram's",
        "rounds of votes: 3",
        "candidates in a round: at most 20",
        "variations of each parent in a round: 3",
        "draws: 5 + 2 × 4",
        "share of noise in a draw: 69 %",
        "a round is worth about 59 noise-free draws",
        "worst case: 0.42 % of what is drawn is not where the votes are",
        "synthetic rows: 50",
    ]


def test_plan_leaves_out_what_does_not_apply(evomix, backend):
    backend.plan |= {"mechanism": "gaussian", "draws": [], "mixing_weight": None, "noise_scale": 5.0, "signal": 0.5}
    backend.plan["worst_case_tv"] = None
    out = evomix("plan", "--n", "100", "--epsilon", "2").out
    assert "noise on a vote: σ = 5 units\na round is worth about 0.5 noise-free draws\nsynthetic" in out
    assert "draws:" not in out


@pytest.mark.parametrize(
    ("words", "informed", "said"),
    [(["--public"], True, "assumed at hand (--public)"), (["--no-public"], False, "assumed none (--no-public)")],
)
def test_plan_says_what_it_assumed_about_public_rows(evomix, backend, words, informed, said):
    answer = evomix("plan", "--n", "100", "--epsilon", "2", *words)
    assert backend.asked["plan"]["informed"] is informed
    assert f"public rows: {said}\n" in answer.out


@pytest.mark.parametrize("words", [["--mechanism", "pubmix"], ["--public-histogram", "h.json"]])
def test_plan_refuses_a_contradiction_about_public_rows(evomix, backend, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h.json").write_text("[1]")
    answer = evomix("plan", "--n", "100", "--epsilon", "2", "--no-public", *words)
    assert answer.code == 2
    assert "--no-public contradicts" in answer.err
    assert backend.asked == {}


@pytest.mark.parametrize(
    "text", [None, "{}", "[1, true]", '["1"]', "[1", "7", f"[{10**400}]", "[" + "1" * 5000 + "]", "[" * 100_000]
)
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
    assert given == {"public": None, "target": "y", "report": Path("e.html"), "schema": None, "seeds": 3} | {
        "encoding": None,
        "public_encoding": None,
        "geometry": True,
        "text_column": None,
        "embedder": None,
        "classifier": None,
        "task": "auto",
        "canaries": None,
    }
    assert "epsilon is infinite" in answer.err
    assert "warning: few rows" in answer.err
    assert answer.out.splitlines() == [
        "On 1 of 2 figures they differ.",
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
    assert evomix("demo", "-o", tmp_path, "--json").json["mechanism"]["draws"] == 40
    assert backend.asked["demo"] == tmp_path
    assert evomix("demo", "-o", tmp_path).out.splitlines()[:8] == [
        "synthetic table: s.csv",
        "privacy report: r.html",
        "evaluation: e.html",
        "7 rows, made from 9 private ones",
        "epsilon=1.0 delta=1e-06 (replace-one, unit: one row, mechanism: linmix)",
        "share of noise in a draw: 78 %",
        "On 1 of 2 figures they differ.",
        "distance to real rows (0 is best; floor: public rows)",
    ]


def test_evaluate_passes_encodings_on(evomix, backend):
    evomix("evaluate", "--real", "r.csv", "--synthetic", "s.csv", "--encoding", "cp1252", "--public-encoding", "utf-16")
    _, given = backend.asked["evaluate"]
    assert (given["encoding"], given["public_encoding"]) == ("cp1252", "utf-16")


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


@pytest.mark.parametrize(("reply", "code", "runs"), [("n\n", 2, 1), ("y\n", 0, 0), ("", 2, 1)])
def test_reset_asks_first(evomix, monkeypatch, reply, code, runs):
    import io

    from evomix.privacy.ledger import Budget, Ledger

    Ledger().open_run("r1", "clinic", Budget(1.0, 1e-6), fingerprint=None, spec_digest="d")
    monkeypatch.setattr("sys.stdin", io.StringIO(reply))
    answer = evomix("ledger", "reset", "--dataset", "clinic")
    assert answer.code == code
    assert "Forget 1 charges" in answer.err
    assert ("needs --yes when nobody can answer" in answer.err) == (reply == "")
    assert Ledger().balance("clinic").runs == runs


def test_reset_stopped_at_the_question_is_130(evomix, monkeypatch):
    import io

    evomix("ledger", "grant", "--dataset", "clinic", "--budget", "3:1e-5")
    terminal = io.StringIO("")
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", terminal)
    assert evomix("ledger", "reset", "--dataset", "clinic").code == 130


@pytest.mark.parametrize("words", [["--yes"], []])
def test_reset_of_a_data_set_that_is_not_there_is_refused(evomix, words):
    answer = evomix("ledger", "reset", "--dataset", "nosuch", *words)
    assert (answer.code, answer.out) == (2, "")
    assert "dataset='nosuch'" in answer.err
    assert "Forget" not in answer.err


@pytest.mark.parametrize("budget", ["", "a:b", "0:1e-6", "1:1", "nan:0", "1", "1:0"])
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


def test_evaluate_leaves_geometry_out_on_request(evomix, backend):
    evomix("evaluate", "--real", "r.csv", "--synthetic", "s.csv", "--no-geometry")
    assert backend.asked["evaluate"][1]["geometry"] is False
