"""Proof: docs/proofs/ledger.md."""

import multiprocessing
import os
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from ledger_race import open_run, race

from evomix.core.errors import BudgetExceeded, EnvironmentFailure, PrivacyError, SpecError
from evomix.privacy.ledger import Budget, Ledger


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "fresh" / "folder" / "ledger.sqlite")


def test_of_two_processes_at_once_exactly_one_gets_the_rest_of_a_budget_and_one_a_round(tmp_path):
    path = tmp_path / "ledger.sqlite"
    open_run(Ledger(path), "shared")
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(2), context.Queue()
    workers = [context.Process(target=race, args=(path, barrier, answers, which)) for which in "ab"]
    for worker in workers:
        worker.start()
    got = [answers.get(timeout=60) for _ in range(80)]
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    for turn in [*range(20), *range(100, 120)]:
        assert sorted(answer for at, answer in got if at == turn) == ["charged", "refused"]
    for turn in range(20):
        assert Ledger(path).balance(f"set {turn}").spent == Budget(0.6, 1e-6)


def test_threads_that_make_the_file_at_once_share_one_ledger(tmp_path):
    ledger = Ledger(tmp_path / "new" / "ledger.sqlite")
    with ThreadPoolExecutor(8) as pool:
        seals = set(pool.map(lambda _: ledger.seal(b"same"), range(16)))
    assert len(seals) == 1


def test_ten_tenths_fit_a_budget_of_one_and_nothing_more(ledger):
    ledger.grant("adult", Budget(1.0, 1e-6))
    for turn in range(10):
        open_run(ledger, f"run {turn}", epsilon=0.1, delta=1e-7)
    assert ledger.balance("adult").spent == Budget(1.0, 1e-6)
    assert ledger.balance("adult").left == Budget(0.0, 0.0)
    with pytest.raises(BudgetExceeded):
        open_run(ledger, "one more", epsilon=1e-300, delta=0.0)


def test_delta_is_refused_on_its_own(ledger):
    ledger.grant("adult", Budget(10.0, 1e-6))
    open_run(ledger, "run 1", delta=9e-7)
    with pytest.raises(BudgetExceeded):
        open_run(ledger, "run 2", delta=2e-7)
    open_run(ledger, "run 3", delta=1e-7)


def test_a_refusal_says_asked_spent_granted_left_and_the_way_on_and_records_nothing(ledger):
    open_run(ledger, "run 1", grant=Budget(1.0, 1e-5))
    with pytest.raises(BudgetExceeded) as refusal:
        open_run(ledger, "run 2", epsilon=0.5)
    for part in (
        "'adult'",
        "asked epsilon=0.5 delta=1e-06",
        "spent epsilon=0.6 delta=1e-06",
        "granted epsilon=1.0 delta=1e-05",
        "left epsilon=0.4 delta=9e-06",
        "evomix ledger grant",
    ):
        assert part in str(refusal.value)
    assert refusal.value.exit_code == 3
    assert [entry.run_id for entry in ledger.entries()] == ["run 1"]
    open_run(ledger, "run 2", epsilon=0.4)


def test_what_would_be_refused_is_told_in_the_same_words_and_nothing_is_written(ledger):
    ask = {"unit": "one row", "adjacency": "replace-one"}
    ledger.check_charge("adult", Budget(9.0, 1e-6), **ask)
    with pytest.raises(BudgetExceeded):
        ledger.check_charge("adult", Budget(9.0, 1e-6), grant=Budget(1.0, 1e-5), **ask)
    assert not ledger.path.parent.exists()
    open_run(ledger, "run 1", grant=Budget(1.0, 1e-5))
    ledger.check_charge("adult", Budget(0.4, 1e-6), **ask)
    refused = []
    for attempt in (
        lambda: ledger.check_charge("adult", Budget(0.5, 1e-6), **ask),
        lambda: open_run(ledger, "run 2", epsilon=0.5),
    ):
        with pytest.raises(BudgetExceeded) as refusal:
            attempt()
        refused.append(str(refusal.value))
    assert refused[0] == refused[1]
    with pytest.raises(SpecError, match="protects what"):
        ledger.check_charge("adult", Budget(0.1, 1e-6), unit="all rows", adjacency="replace-one")
    assert [entry.run_id for entry in ledger.entries()] == ["run 1"]


def test_a_refused_first_run_leaves_no_grant_behind(ledger):
    with pytest.raises(BudgetExceeded):
        open_run(ledger, "run 1", epsilon=2.0, grant=Budget(1.0, 1e-5))
    assert ledger.balance("adult").granted is None
    assert ledger.datasets() == ()


def test_without_a_grant_charges_are_recorded_only(ledger):
    for turn in range(3):
        open_run(ledger, f"run {turn}", epsilon=100.0)
    balance = ledger.balance("adult")
    assert (balance.granted, balance.left, balance.runs) == (None, None, 3)
    assert balance.spent.epsilon == 300.0


def test_another_grant_on_the_way_is_refused_and_the_same_is_fine(ledger):
    ledger.grant("adult", Budget(1.0, 1e-5))
    open_run(ledger, "run 1", epsilon=0.1, grant=Budget(1.0, 0.00001))
    with pytest.raises(SpecError, match="evomix ledger grant"):
        open_run(ledger, "run 2", epsilon=0.1, grant=Budget(2.0, 1e-5))
    assert ledger.balance("adult").granted == Budget(1.0, 1e-5)
    ledger.grant("adult", Budget(2.0, 1e-5))
    open_run(ledger, "run 2", epsilon=0.1, grant=Budget(2.0, 1e-5))


PERSON = "all rows with one value of 'person'"


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({}, {"unit": PERSON}),
        ({"unit": PERSON}, {}),
        ({"unit": PERSON}, {"unit": "all rows with one value of 'household'"}),
        ({}, {"adjacency": "add-remove"}),
    ],
)
def test_charges_that_protect_something_else_are_never_added(ledger, first, then):
    open_run(ledger, "run 1", **first)
    with pytest.raises(SpecError) as refusal:
        open_run(ledger, "run 2", grant=Budget(5.0, 1e-5), **then)
    assert ledger.balance("adult").granted is None
    ledger.grant("adult", Budget(5.0, 1e-5))
    with pytest.raises(SpecError):
        open_run(ledger, "run 2", **then)
    assert refusal.value.exit_code == 2
    whole = {"unit": "one row", "adjacency": "replace-one"}
    protects = ["{unit} ({adjacency})".format(**(whole | given)) for given in (first, then)]
    for part in ("'adult'", *protects, "--unit", "--dataset", "evomix ledger reset"):
        assert part in str(refusal.value)
    assert [entry.run_id for entry in ledger.entries()] == ["run 1"]
    open_run(ledger, "run 2", dataset="other", **then)
    open_run(ledger, "run 3", **first)
    assert ledger.balance("adult").spent.epsilon == 1.2


def test_what_charges_protect_is_kept_and_a_reset_sets_it_free(ledger):
    ledger.grant("adult", Budget(9.0, 1e-5))
    assert (ledger.balance("adult").unit, ledger.balance("adult").adjacency) == (None, None)
    open_run(ledger, "run 1")
    assert (ledger.balance("adult").unit, ledger.balance("adult").adjacency) == ("one row", "replace-one")
    ledger.reset("adult")
    assert ledger.balance("adult").unit is None
    open_run(ledger, "run 2", unit=PERSON)
    assert ledger.balance("adult").unit == PERSON
    assert [entry.unit for entry in ledger.entries("adult")] == ["one row", PERSON]
    with pytest.raises(SpecError, match="protects one row"):
        open_run(ledger, "run 3")


def test_of_runs_at_once_with_different_units_only_those_of_one_unit_are_charged(ledger):
    ledger.grant("adult", Budget(50.0, 1e-4))

    def charged(turn):
        try:
            open_run(ledger, f"run {turn}", unit=("one row", PERSON)[turn % 2])
        except SpecError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(charged, range(16)))
    assert sum(answers) == 8
    assert len({entry.unit for entry in ledger.entries()}) == 1


def test_without_a_budget_nothing_is_added_so_all_units_are_named(ledger):
    open_run(ledger, "run 1")
    open_run(ledger, "run 2", unit=PERSON)
    assert ledger.balance("adult").unit == f"{PERSON} and one row"
    assert ledger.balance("adult").mixed


def test_what_is_checked_beforehand_is_what_a_run_is_refused_for(ledger):
    whole = {"unit": "one row", "adjacency": "replace-one"}
    for budget, words in ((Budget(0.0, 0.0), whole), (Budget(1.0, 1e-6), whole | {"unit": " bad "})):
        with pytest.raises(SpecError):
            ledger.check_charge("adult", budget, **words)
        with pytest.raises(SpecError):
            ledger.open_run("run 1", "adult", budget, fingerprint=None, spec_digest="s", **words)
    assert not ledger.path.exists()


@pytest.mark.parametrize("unit", ["", "one row ", "one\nrow"])
def test_unusable_units_are_refused(ledger, unit):
    with pytest.raises(SpecError, match="unit="):
        open_run(ledger, "run 1", unit=unit)
    with pytest.raises(SpecError, match="adjacency="):
        open_run(ledger, "run 1", adjacency=unit)
    assert not ledger.path.exists()


def test_data_sets_are_kept_apart_and_spellings_of_one_name_are_not(ledger):
    ledger.grant("café", Budget(1.0, 1e-5))
    open_run(ledger, "run 1", dataset="cafe\N{COMBINING ACUTE ACCENT}")
    open_run(ledger, "run 2", dataset="other", epsilon=5.0)
    assert ledger.balance("café").spent.epsilon == 0.6
    assert ledger.datasets() == ("café", "other")
    assert [entry.run_id for entry in ledger.entries("other")] == ["run 2"]


@pytest.mark.parametrize("name", ["", " adult", "adult\n", "a\x00b"])
def test_unusable_names_are_refused(ledger, name):
    with pytest.raises(SpecError, match="dataset="):
        ledger.grant(name, Budget(1.0, 0.0))
    with pytest.raises(SpecError, match="run_id="):
        open_run(ledger, name)


@pytest.mark.parametrize("budget", [Budget(0.0, 0.0), Budget(1.0, 1.0)])
def test_amounts_that_cannot_be_spent_are_refused(ledger, budget):
    with pytest.raises(SpecError):
        ledger.grant("adult", budget)
    with pytest.raises(SpecError):
        ledger.open_run("run", "adult", budget, fingerprint=None, spec_digest="spec")
    assert not ledger.path.exists()


def test_a_run_is_charged_once(ledger):
    open_run(ledger, "run 1")
    with pytest.raises(PrivacyError, match="charged before"):
        open_run(ledger, "run 1", dataset="other")


def test_rounds_are_begun_once_within_what_was_charged_and_survive(ledger):
    open_run(ledger, "run 1", rounds=3)
    for index in (0, 2):
        ledger.begin_round("run 1", index)
    with pytest.raises(PrivacyError, match="begun before"):
        Ledger(ledger.path).begin_round("run 1", 2)
    for index in (-1, 3):
        with pytest.raises(PrivacyError, match="not charged for"):
            ledger.begin_round("run 1", index)
    with pytest.raises(PrivacyError, match="not in this ledger"):
        ledger.begin_round("run 2", 0)
    assert Ledger(ledger.path).started_rounds("run 1") == {0, 2}
    assert ledger.started_rounds("run 2") == frozenset()
    assert ledger.entries()[0].rounds_begun == 2


def test_a_finished_run_begins_no_round(ledger):
    open_run(ledger, "run 1")
    ledger.finish_run("run 1")
    ledger.finish_run("run 1")
    assert ledger.entries()[0].finished_at is not None
    with pytest.raises(PrivacyError, match="finished"):
        ledger.begin_round("run 1", 0)
    with pytest.raises(PrivacyError, match="not in this ledger"):
        ledger.finish_run("run 2")


def test_reset_forgets_but_keeps_and_stops_the_runs_it_forgot(ledger):
    ledger.grant("adult", Budget(1.0, 1e-5))
    open_run(ledger, "run 1")
    open_run(ledger, "elsewhere", dataset="other")
    assert ledger.reset("adult") == 1
    assert ledger.reset("adult") == 0
    balance = ledger.balance("adult")
    assert (balance.spent, balance.runs, balance.voided) == (Budget(0.0, 0.0), 0, 1)
    assert balance.granted == balance.left == Budget(1.0, 1e-5)
    assert ledger.balance("other").runs == 1
    assert ledger.entries("adult")[0].voided_at is not None
    with pytest.raises(PrivacyError, match="voided"):
        ledger.begin_round("run 1", 0)
    with pytest.raises(PrivacyError, match="voided"):
        _resume(ledger)
    open_run(ledger, "run 2", epsilon=1.0)


def _resume(ledger, **changes):
    same = {"fingerprint": b"digest of the records", "spec_digest": "spec", "epsilon": 0.6, "delta": 1e-6}
    ledger.check_resume("run 1", **(same | changes))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"fingerprint": b"others"}, "data"),
        ({"fingerprint": None}, "data"),
        ({"epsilon": 0.7}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"spec_digest": "other"}, "specification"),
        ({"epsilon": 0.7, "fingerprint": b"others"}, "data, epsilon"),
    ],
)
def test_a_resume_with_something_else_is_refused_naming_what(ledger, changes, named):
    open_run(ledger, "run 1")
    _resume(ledger)
    with pytest.raises(SpecError, match=f"different now: {named}\\.") as refusal:
        _resume(ledger, **changes)
    assert "others" not in str(refusal.value)
    assert refusal.value.exit_code == 2


def test_a_resume_of_an_unknown_run_is_refused(ledger):
    with pytest.raises(PrivacyError, match="not in this ledger"):
        _resume(ledger)
    open_run(ledger, "run 2")
    with pytest.raises(PrivacyError, match="not in this ledger"):
        _resume(ledger)


def test_seals_are_of_this_ledger_and_the_file_holds_no_bare_digest(ledger, tmp_path):
    open_run(ledger, "run 1", fingerprint=b"PRIVATE DIGEST")
    other = Ledger(tmp_path / "other.sqlite")
    assert ledger.seal(b"x") == Ledger(ledger.path).seal(b"x") != other.seal(b"x")
    assert ledger.seal(b"x") != ledger.seal(b"y")
    assert ledger.entries()[0].sealed_fingerprint == ledger.seal(b"PRIVATE DIGEST")
    assert b"PRIVATE DIGEST" not in ledger.path.read_bytes()
    assert "sealed" not in repr(ledger.entries()[0])


def test_looking_makes_no_file(ledger):
    assert ledger.balance("adult").runs == 0
    assert ledger.entries() == ledger.datasets() == ()
    assert ledger.started_rounds("run") == frozenset()
    assert not ledger.path.parent.exists()


def test_file_and_folder_are_the_owners_alone_whatever_the_umask(tmp_path):
    script = "import os, sys; os.umask(0)\nfrom evomix.privacy.ledger import Ledger\nLedger(sys.argv[1]).seal(b'')"
    path = tmp_path / "folder" / "ledger.sqlite"
    subprocess.run([sys.executable, "-c", script, path], check=True, timeout=60)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_path_comes_from_the_argument_then_the_environment_then_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("EVOMIX_LEDGER", str(tmp_path / "named.sqlite"))
    assert Ledger().path == tmp_path / "named.sqlite"
    assert Ledger(tmp_path / "given.sqlite").path == tmp_path / "given.sqlite"
    monkeypatch.delenv("EVOMIX_LEDGER")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert Ledger().path.parts[-2:] == ("evomix", "ledger.sqlite")
    assert "ledger.sqlite" in repr(Ledger())


def _another_database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()


def _of_version(version, path):
    Ledger(path).seal(b"")
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


def _damaged(path):
    ledger = Ledger(path)
    for turn in range(60):
        open_run(ledger, f"run {turn}")
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))


def _cut(path):
    _damaged(path)
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_text("name,age\nx,1\n" * 100), "Restore it from a backup"),
        (_another_database, "another kind of database"),
        (partial(_of_version, 99), "version=99 .*knows it"),
        (partial(_of_version, 1), "version=1 .*knows it"),
        (_damaged, "Restore it from a backup"),
        (_cut, "Restore it from a backup"),
        (lambda path: path.mkdir(), "--ledger"),
    ],
    ids=["text", "another database", "newer", "older", "damaged", "cut", "folder"],
)
def test_what_is_not_a_sound_ledger_is_refused_and_left_as_it_is(tmp_path, make, said):
    path = tmp_path / "ledger.sqlite"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    for use in (
        lambda ledger: ledger.balance("adult"),
        lambda ledger: ledger.grant("adult", Budget(1.0, 0.0)),
        lambda ledger: open_run(ledger, "new run"),
    ):
        with pytest.raises(EnvironmentFailure, match=said) as failure:
            use(Ledger(path))
        assert "ledger.sqlite" in str(failure.value)
    assert before == (path.read_bytes() if path.is_file() else None)


def test_an_empty_file_becomes_a_ledger(tmp_path):
    path = tmp_path / "ledger.sqlite"
    path.touch()
    assert Ledger(path).entries() == ()
    open_run(Ledger(path), "run 1")
    assert Ledger(path).balance("adult").runs == 1


@pytest.mark.parametrize("place", ["/proc/evomix/ledger.sqlite", "/dev/null/ledger.sqlite"])
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="places that not even root can write to")
def test_a_place_that_cannot_be_written_is_refused(place):
    with pytest.raises(EnvironmentFailure, match="EVOMIX_LEDGER"):
        open_run(Ledger(place), "run 1")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_ledger_can_be_looked_at_but_not_charged(ledger):
    open_run(ledger, "run 1")
    ledger.path.chmod(0o400)
    assert ledger.balance("adult").runs == 1
    with pytest.raises(EnvironmentFailure, match="writable"):
        open_run(ledger, "run 2")


def test_a_locked_ledger_is_an_environment_failure(ledger, monkeypatch):
    open_run(ledger, "run 1")
    monkeypatch.setattr("evomix.privacy.ledger_file.BUSY_TIMEOUT_S", 0.05)
    holder = sqlite3.connect(ledger.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(EnvironmentFailure, match="locked"):
        open_run(ledger, "run 2")
    holder.close()
    open_run(ledger, "run 2")


@pytest.mark.parametrize("table", ["secret", "grants", "charges", "rounds", "finishes", "voids"])
def test_nothing_written_can_be_changed_or_deleted(ledger, table):
    open_run(ledger, "run 1", grant=Budget(1.0, 1e-5))
    ledger.begin_round("run 1", 0)
    ledger.finish_run("run 1")
    ledger.reset("adult")
    connection = sqlite3.connect(ledger.path)
    column = connection.execute(f"SELECT * FROM {table}").description[-1][0]
    for change in (f"DELETE FROM {table}", f"UPDATE {table} SET {column} = 1"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(change)
    connection.close()


def test_an_error_or_interrupt_on_the_way_records_nothing(ledger, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    open_run(ledger, "run 1")
    monkeypatch.setattr("evomix.privacy.ledger_rows.insert_charge", interrupted)
    with pytest.raises(KeyboardInterrupt):
        open_run(ledger, "run 2", grant=Budget(5.0, 1e-5))
    monkeypatch.undo()
    assert ledger.balance("adult").granted is None
    open_run(ledger, "run 2")


def test_every_transaction_is_synchronised_to_disk(ledger):
    from evomix.privacy.ledger_file import reading, writing

    for opened in (writing, reading):
        with opened(ledger.path) as connection:
            assert connection.execute("PRAGMA synchronous").fetchone()[0] == 3  # EXTRA
            assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
