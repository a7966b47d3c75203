import json
import math
import time

import pytest

from evomix.bench import running, table_contest, table_job
from evomix.bench.catalog import entry
from evomix.bench.contest import Made
from evomix.bench.methods import TABLE_METHODS, usual_methods
from evomix.bench.pages import bench_content, rows, write_pages
from evomix.bench.results import load_results
from evomix.bench.rivals.registry import RIVALS, RivalEntry, find_rival, is_installed, load_rival
from evomix.bench.running import BenchRequest, run_bench
from evomix.bench.table_contest import TableContest, TableSettings
from evomix.bench.table_job import ANSWER, TABLE, Job, do, do_apart, run_settings, unable_to
from evomix.bench.table_scores import table_measures
from evomix.bench.table_sets import read_table_set
from evomix.bench.text_contest import TextSettings
from evomix.core.errors import EnvironmentFailure, GeneratorError, SpecError

FAST = TableSettings(rounds=1, candidates=20)


def request(data, out, **changes):
    settings = {"epsilons": (2.0,), "methods": ("default",), "seeds": 1, "rows": 40, "settings": FAST}
    return BenchRequest(changes.pop("name", "adult"), data, out, **settings | changes)


def job(data, **changes):
    settings = {
        "bench": "adult",
        "data": str(data),
        "method": "default",
        "epsilon": 2.0,
        "delta": 1e-4,
        "rows": 30,
        "seed": 0,
        "ledger": str(data / "ledger.sqlite"),
        "settings": {},
    }
    return Job(**settings | changes)


class Quick:
    """A scorer that scores the number of different rows; models have tests of their own."""

    def __init__(self, parts):
        self.task = parts.task

    def score(self, table, *, seed):
        del seed
        return {one.name: len({str(row) for row in table.to_pylist()}) / 1e3 for one in table_measures(self.task)}


@pytest.fixture
def quick(monkeypatch):
    """Score at no cost."""
    monkeypatch.setattr(table_contest, "TableScorer", Quick)


@pytest.fixture
def here(monkeypatch, quick):
    """Make all results in this process, and score them at no cost; returns the tasks that rivals were given."""
    given = []

    def columns(task):
        given.append(task)
        return task.private.select(list(task.schema.names)).slice(0, task.rows)

    monkeypatch.setattr(table_contest, "load_rival", lambda _entry: columns)
    monkeypatch.setattr(table_job, "load_rival", lambda _entry: columns)

    def do_here(asked, _folder, *, time_limit_s):
        del time_limit_s
        return do(asked, read_table_set(entry(asked.bench), asked.data))

    monkeypatch.setattr(table_contest, "do_apart", do_here)
    return given


def test_methods_and_references_are_scored_on_the_same_terms(tables, tmp_path, here):
    made = run_bench(request(tables, tmp_path, name="person-activity", methods=("default", "mst", "jam"), seeds=2))
    assert {line.name for line in made.lines if line.epsilon} == {"default", "mst", "jam"}
    assert {line.name for line in made.lines if line.epsilon is None} == {
        "real_all",
        "real_same_rows",
        "real_bootstrap",
        "public_all",
        "public_same_rows",
        "real_columns",
        "uniform",
    }
    assert all(line.scores["accuracy"].mean is not None for line in made.lines)
    assert [(task.seed, task.rows, task.epsilon) for task in here] == [(0, 40, 2.0)] * 2 + [(1, 40, 2.0)] * 2
    parts = read_table_set(entry("person-activity"), tables)
    for task in here:
        assert task.private == parts.private  # and so no row of the test part
        assert task.public == parts.public
        assert task.schema == parts.schema
        assert task.adjacency == "replace-one"
        assert task.delta == pytest.approx(1.0 / (parts.units * math.log(parts.units)))


def test_runs_of_evomix_get_the_same_terms_and_never_the_test_part(tables):
    parts = read_table_set(entry("readmission"), tables)
    asked = run_settings(job(tables, bench="readmission", method="pubmix-gape"), parts)
    assert asked["unit"] == parts.unit
    assert asked["schema"] is parts.schema
    assert asked["preset"] == "pubmix-gape"
    assert not any(value is parts.test for value in asked.values())
    beside = read_table_set(entry("adult-wrong-public"), tables)
    assert run_settings(job(tables), beside)["public"] is beside.public
    assert run_settings(job(tables, method="schema-only"), beside)["public"] is None


def test_a_user_with_many_rows_gives_rivals_one(tables, tmp_path, here):
    run_bench(request(tables, tmp_path, name="readmission", methods=("mst",), rows=20))
    parts = read_table_set(entry("readmission"), tables)
    assert here[0].private == parts.one_row_a_unit(0)


@pytest.mark.parametrize("method", ["jam", "pubmix", "pubmix-rank", "pubmix-gape"])
def test_what_needs_public_records_is_shown_so_where_there_are_none(tables, tmp_path, here, method):
    made = run_bench(request(tables, tmp_path, methods=(method, "mst")))
    (line,) = (line for line in made.lines if line.name == method)
    assert (line.unable, line.repetitions, line.rows) == ("needs public records", 0, 0)
    assert line.scores["accuracy"].mean is None
    shown = rows(made, 2.0)
    assert shown[0][0].endswith(": needs public records")
    assert shown[0][3] == "–"
    page, numbers, html = write_pages(made)
    assert "needs public records" in page.read_text()
    assert "needs public records" in html.read_text()
    content = json.loads(numbers.read_text())
    assert content["best"]["2"]["accuracy"] == "mst"
    assert content["near_best"]["2"]["accuracy"] == ["mst"]
    assert not here[0].public


def test_a_rival_that_refuses_the_domain_is_shown_so_and_another_failure_stops(tables, monkeypatch):
    parts = read_table_set(entry("adult"), tables)

    def refuse(_task):
        raise SpecError("expected at most 9 cells; found 12")

    monkeypatch.setattr(table_job, "load_rival", lambda _entry: refuse)
    assert do(job(tables, method="mst"), parts).unable == "expected at most 9 cells; found 12"

    def fail(_task):
        raise GeneratorError("nothing came")

    monkeypatch.setattr(table_job, "load_rival", lambda _entry: fail)
    with pytest.raises(GeneratorError, match="nothing came"):
        do(job(tables, method="mst"), parts)


def test_pubmix_is_found_by_its_mechanism_whatever_its_name(tables):
    parts = read_table_set(entry("adult"), tables)
    cannot = {name for name in TABLE_METHODS if unable_to(name, parts)}
    assert cannot == {
        "schema-only",
        "linmix-schema-only",
        *(name for name in TABLE_METHODS if name.startswith("pubmix")),
    }
    assert unable_to("schema-only", parts).startswith("as default")
    assert not any(unable_to(name, read_table_set(entry("nist"), tables)) for name in TABLE_METHODS)


def test_results_that_ran_out_of_time_are_made_anew_when_there_is_more(tables, tmp_path, monkeypatch, quick):
    limits = []

    def late(_asked, _folder, *, time_limit_s):
        limits.append(time_limit_s)
        return Made(None, unable=f"over {time_limit_s:g} s", over_s=time_limit_s)

    monkeypatch.setattr(table_contest, "do_apart", late)

    def run(limit):
        settings = TableSettings(time_limit_s=limit)
        return run_bench(request(tables, tmp_path, settings=settings, resume=True))

    (line,) = (line for line in run(5.0).lines if line.epsilon)
    assert line.unable == "over 5 s"
    run(5.0)
    run(2.0)
    assert limits == [5.0]
    run(9.0)
    assert limits == [5.0, 9.0]
    assert max(one.over_s for one in load_results(tmp_path).values() if one.over_s) == 9.0


def test_a_method_that_ran_out_of_time_is_not_tried_in_later_repetitions(tables, tmp_path, monkeypatch, here):
    tried = []
    quick_enough = table_contest.do_apart

    def sometimes_late(asked, folder, *, time_limit_s):
        tried.append((asked.method, asked.epsilon, asked.seed))
        if (asked.method, asked.epsilon) == ("mst", 4.0):
            return Made(None, unable="over 5 s", over_s=time_limit_s)
        return quick_enough(asked, folder, time_limit_s=time_limit_s)

    monkeypatch.setattr(table_contest, "do_apart", sometimes_late)
    asked = request(
        tables,
        tmp_path,
        methods=("mst", "independent"),
        epsilons=(1.0, 4.0),
        seeds=3,
        settings=TableSettings(time_limit_s=5.0),
    )
    lines = {(line.name, line.epsilon): line for line in run_bench(asked).lines}
    assert [seed for *which, seed in tried if which == ["mst", 4.0]] == [0]
    assert lines["mst", 4.0].repetitions == 0
    assert lines["mst", 4.0].unable == "over 5 s"
    assert [lines[which].repetitions for which in (("mst", 1.0), ("independent", 1.0), ("independent", 4.0))] == [3] * 3


def test_other_settings_are_another_result(tables, tmp_path, here):
    for settings in (TableSettings(), TableSettings(delta=1e-5), TableSettings(delta=1e-5, time_limit_s=9.0)):
        run_bench(request(tables, tmp_path, methods=("mst",), settings=settings, resume=True))
    assert [task.delta for task in here][1:] == [1e-5]


def test_wrong_settings_are_refused_before_any_run(tables, tmp_path, here):
    for wrong in ({"delta": 1.0}, {"time_limit_s": 0.0}, {"time_limit_s": float("nan")}):
        with pytest.raises(SpecError):
            TableSettings(**wrong)
    with pytest.raises(SpecError, match="methods"):
        request(tables, tmp_path, methods=("aim", "best"))
    with pytest.raises(SpecError, match="another kind"):
        request(tables, tmp_path, settings=TextSettings())
    with pytest.raises(SpecError, match="epsilon"):
        run_bench(request(tables, tmp_path / "a", epsilons=(-1.0,)))
    with pytest.raises(SpecError, match="at least 10 rows"):
        run_bench(request(tables, tmp_path / "b", rows=3))
    with pytest.raises(SpecError, match="candidates"):
        run_bench(request(tables, tmp_path / "c", settings=TableSettings(candidates=0)))
    assert not here


def test_as_many_rows_as_private_ones_are_made_by_default(tables, tmp_path, monkeypatch):
    monkeypatch.setattr(table_contest, "MOST_ROWS", 100)
    for name, expected in (
        ("adult", 100),
        ("acs-hawaii", read_table_set(entry("acs-hawaii"), tables).private.num_rows),
    ):
        contest = TableContest.open(entry(name), tables, rows=None, settings=FAST, ledger=tmp_path / "l.sqlite")
        assert contest.facts["synthetic records"] == expected


def test_the_command_says_what_was_asked_for(tables, tmp_path):
    settings = TableSettings(delta=1e-6, time_limit_s=600.0, rounds=3)
    made = request(tables, tmp_path, rows=None, methods=("default", "mst"), settings=settings)
    assert made.command == (
        "evomix bench run adult --data FOLDER --epsilon 2 --methods default,mst --seeds 1 --delta 1e-06 "
        "--time-limit 600 --rounds 3"
    )


@pytest.mark.slow
def test_a_result_is_made_by_a_process_of_its_own(tables, tmp_path):
    asked = job(tables, ledger=str(tmp_path / "ledger.sqlite"), settings={"rounds": 1, "candidates": [20]})
    made = do_apart(asked, tmp_path / "run", time_limit_s=None)
    assert made.table.num_rows == 30
    assert made.table.column_names == list(read_table_set(entry("adult"), tables).schema.names)
    assert made.cost.cpu_s > 0.0
    assert made.cost.wall_s > 0.0
    assert (tmp_path / "ledger.sqlite").exists()
    again = do_apart(job(tables, method="jam"), tmp_path / "run", time_limit_s=None)
    assert (again.table, again.unable) == (None, "needs public records")


def test_a_process_that_is_over_its_time_is_stopped_with_all_that_it_started(tables, tmp_path, monkeypatch):
    script = tmp_path / "python"
    mark = tmp_path / "alive"
    script.write_text(f"#!/bin/sh\n(sleep 1; touch {mark}) &\nsleep 30\n")
    script.chmod(0o755)
    monkeypatch.setattr(table_job.sys, "executable", str(script))
    start = time.monotonic()
    made = do_apart(job(tables), tmp_path / "run", time_limit_s=0.2)
    assert time.monotonic() - start < 5.0
    assert (made.table, made.unable, made.over_s) == (None, "over 0.2 s", 0.2)
    time.sleep(1.2)
    assert not mark.exists()


def test_a_process_that_dies_is_told_of_and_an_old_answer_is_not_taken(tables, tmp_path, monkeypatch):
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nkill -9 $$\n")
    script.chmod(0o755)
    monkeypatch.setattr(table_job.sys, "executable", str(script))
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / ANSWER).write_text(json.dumps({"cost": {}, "unable": "old"}))
    (folder / TABLE).write_bytes(b"old")
    with pytest.raises(EnvironmentFailure, match=r"method='default' at epsilon=2, seed=0.*code=-9.*memory"):
        do_apart(job(tables), folder, time_limit_s=None)


def test_an_error_of_the_process_is_raised_as_what_it_was(tables, tmp_path, monkeypatch):
    def fail(_job, _parts):
        raise GeneratorError("nothing came")

    monkeypatch.setattr(table_job, "do", fail)
    folder = tmp_path / "run"
    folder.mkdir()
    asked = job(tables)
    (folder / table_job.JOB).write_text(json.dumps(table_job.asdict(asked)))
    table_job.main(folder)
    with pytest.raises(GeneratorError, match="method='default': nothing came"):
        table_job._answer(asked, folder, 0)


def test_every_rival_that_is_installed_can_be_imported():
    there = [one for one in RIVALS if is_installed(one)]
    assert len({one.name for one in RIVALS}) == len(RIVALS)
    assert not {one.name for one in RIVALS} & set(TABLE_METHODS)
    for one in there:
        assert callable(load_rival(one))
        assert find_rival(one.name) is one
    usual = usual_methods("table")
    assert set(usual) > {"default", "independent", "mst", "aim", "privsyn", "gsd", "tab-pe", "jam", "pmw-pub"}
    assert set(usual) <= {*TABLE_METHODS, *(one.name for one in there)}
    assert not set(usual_methods("text")) & {one.name for one in RIVALS}


def test_a_library_that_is_not_there_is_told_of():
    with pytest.raises(EnvironmentFailure, match=r"needs the library 'no_such_library'.*evomix\[baselines\]"):
        load_rival(RivalEntry("new", "New", lambda: None, "nobody", library="no_such_library"))


@pytest.mark.slow
def test_a_benchmark_of_tables_runs_end_to_end(tables, tmp_path):
    methods = ("default", "independent", "gsd")
    made = run_bench(request(tables, tmp_path, name="acs-hawaii", methods=methods))
    assert all(line.scores["rmse"].mean is not None for line in made.lines)
    assert all(line.rows == 40 for line in made.lines if line.epsilon)
    content = bench_content(made)
    assert content["near_best"]["2"]["rmse"]
    assert not list((tmp_path / running.RUNS).iterdir())
    before = (tmp_path / running.RESULTS_FILE).read_bytes()
    run_bench(request(tables, tmp_path, name="acs-hawaii", methods=methods, resume=True))
    assert (tmp_path / running.RESULTS_FILE).read_bytes() == before
