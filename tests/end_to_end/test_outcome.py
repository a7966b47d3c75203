"""What a run leaves when it is cut off, and whether what it made is any good."""

import errno

import numpy as np
import pytest

from evomix.formats import table as tables

KILLED_AFTER_ROUND_3 = """
from evomix.experiment import artifacts
append = artifacts.append_event
artifacts.append_event = lambda folder, event: (append(folder, event), event.get("round") == 2 and die())
"""
KILLED_WHILE_WRITING = """
from evomix.formats import table
table.write_csv = lambda rows, file, delimiter: (file.write(b"age,region"), file.flush(), die())
"""
RUN = ("synth", "in/private.csv", "--public", "in/public.csv", "--epsilon", "1", "--delta", "1e-6", "--rounds", "6",
       "--rows", "40", "--out", "out.csv")  # fmt: skip


def test_a_killed_run_goes_on_under_its_own_charge(ordinary, people):
    ordinary.killed(KILLED_AFTER_ROUND_3, *RUN)
    assert "out.csv" not in ordinary.made()
    assert ordinary.spent() == [1.0]

    state = ordinary.folder / "out.run" / "checkpoint" / "state.npz"
    whole = state.read_bytes()
    for other, named in (
        (("--epsilon", "2"), "epsilon"),
        (("--rounds", "7"), "rounds"),
        (("--mechanism", "gaussian"), "mechanism"),
    ):
        answer = ordinary.run(*RUN, *other, "--resume")
        assert (answer.code, named in answer.err) == (2, True)
    private = (ordinary.folder / "in" / "private.csv").read_bytes()
    ordinary.write("private.csv", people(120, seed=5))
    answer = ordinary.run(*RUN, "--resume")
    assert (answer.code, "data" in answer.err) == (2, True)
    ordinary.write("private.csv", private)
    state.write_bytes(whole[: len(whole) // 2])
    answer = ordinary.run(*RUN, "--resume")
    assert (answer.code, "damaged" in answer.err) == (2, True)
    assert ordinary.spent() == [1.0]
    assert "out.csv" not in ordinary.made()

    state.write_bytes(whole)
    assert ordinary.run(*RUN, "--resume").code == 0
    assert len(ordinary.rows()) == 40
    assert ordinary.spent() == [1.0]
    told = ordinary.privacy()
    assert (told["epsilon"], told["rounds"], told["begun_rounds"]) == (1.0, 6, [0, 1, 2, 3, 4, 5])


def test_a_run_that_is_begun_anew_is_charged_anew_and_says_so(ordinary):
    ordinary.killed(KILLED_AFTER_ROUND_3, *RUN)
    refused = ordinary.run(*RUN)
    assert (refused.code, "--resume" in refused.err, "--overwrite" in refused.err) == (2, True, True)
    assert ordinary.spent() == [1.0]
    answer = ordinary.run(*RUN, "--overwrite")
    assert answer.code == 0
    assert "interrupted" in answer.err
    assert ordinary.spent() == [2.0]


def test_nothing_to_resume_is_refused(ordinary):
    ordinary.refused("resume", answer=ordinary.run(*RUN, "--resume"))


def test_half_a_file_never_has_the_final_name(ordinary):
    ordinary.killed(KILLED_WHILE_WRITING, *RUN)
    made = ordinary.made()
    assert "out.csv" not in made
    assert [name for name in made if "out.csv" in name] == [name for name in made if name.endswith(".partial")]
    # A report about a table that is not there would look like one that is done.
    assert not {"report.html", "privacy.json"} & {path.name for path in (ordinary.folder / "out.run").iterdir()}
    assert ordinary.spent() == [1.0]
    assert ordinary.run(*RUN, "--resume").code == 0
    assert ordinary.made() == ["out.csv", "out.run"]
    assert ordinary.spent() == [1.0]


@pytest.mark.parametrize(
    ("failure", "code", "said"),
    [(OSError(errno.ENOSPC, "full"), 4, "disk is full"), (KeyboardInterrupt(), 130, "--resume")],
    ids=["disk full", "ctrl-c"],
)
@pytest.mark.parametrize("writer", ["write_csv", "write_report"])
def test_a_failing_run_leaves_an_older_good_file_as_it_was(ordinary, monkeypatch, failure, code, said, writer):
    from evomix.experiment import run as runs

    ordinary.done()
    before = (ordinary.folder / "out.csv").read_bytes()

    def fail(*_args, **_kwargs):
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(tables if writer == "write_csv" else runs, writer, fail)
        answer = ordinary.run(*RUN, "--overwrite")
    assert (answer.code, said in answer.err) == (code, True)
    assert answer.out == ""
    assert (ordinary.folder / "out.csv").read_bytes() == before
    assert ordinary.made() == ["out.csv", "out.run"]


@pytest.mark.parametrize(
    ("out", "code", "said"),
    [
        ("absent/out.csv", 2, "does not exist"),
        ("out.xlsx", 2, "xlsx"),
        ("in", 2, "in"),
        ("in/private.csv", 2, "private"),
    ],
)
def test_where_nothing_can_be_written_nothing_is_spent(ordinary, out, code, said):
    before = (ordinary.folder / "in" / "private.csv").read_bytes()
    answer = ordinary.run(*RUN[:-1], out)
    assert (answer.code, said in answer.err) == (code, True)
    assert ordinary.made() == []
    assert ordinary.spent() == []
    assert (ordinary.folder / "in" / "private.csv").read_bytes() == before


def _related(size):
    x = np.arange(size) * 101 // size
    y = np.clip(x + np.arange(size) % 7 - 3, 0, 100)
    hours = np.where(np.arange(size) % 2 == 0, 40, np.arange(size) * 7 % 80)
    return [{"x": a, "y": b, "grp": "hi" if a > 50 else "lo", "hours": h} for a, b, h in zip(x, y, hours, strict=True)]


def test_a_generous_budget_keeps_relations_and_spikes(desk):
    desk.write("private.csv", _related(600))
    # The public rows tell the bounds and nothing true about relations.
    corners = [(0, 100, "hi", 1), (100, 0, "lo", 80), (50, 50, "hi", 40), (50, 50, "lo", 20)]
    desk.write("public.csv", [dict(zip(("x", "y", "grp", "hours"), row, strict=True)) for row in corners])
    for mechanism in ("auto", "linmix", "gaussian", "laplace"):
        rows = desk.done("--mechanism", mechanism, epsilon=20, rows=600)
        x, y, hours = (np.array([float(row[name]) for row in rows]) for name in ("x", "y", "hours"))
        assert np.corrcoef(x, y)[0, 1] > 0.6
        assert np.mean([(row["grp"] == "hi") == (at > 50) for row, at in zip(rows, x, strict=True)]) > 0.85
        assert 0.25 < np.mean((hours >= 36) & (hours <= 44)) < 0.75
    assert "relations between columns cannot be kept" in desk.synth(epsilon=0.01).err


def test_a_category_that_synthetic_rows_lack_counts_as_wrong_not_as_an_error(desk):
    real = [{"age": 20 + k % 50, "cls": ("yes", "no", "rare")[k % 10 // 4]} for k in range(200)]
    desk.write("real.csv", real)
    desk.write("synthetic.csv", [row for row in real if row["cls"] != "rare"])
    answer = desk.run(
        "evaluate", "--real", "in/real.csv", "--synthetic", "in/synthetic.csv", "--target", "cls", "--json"
    )
    assert answer.code == 0
    assert "'rare'" in answer.err
    (covered,) = [entry for entry in answer.json["fidelity"]["coverage"] if entry["column"] == "cls"]
    assert (covered["covered"], covered["real"]) == (2, 3)
    scores = {arm["title"]: arm["scores"] for arm in answer.json["downstream"]["arms"]}
    assert len(scores) >= 2
    assert all(0 <= score["mean"] <= 1 for arm in scores.values() for score in arm.values())


def test_a_copy_of_the_real_table_is_called_one(desk, people):
    real = people(150)
    desk.write("real.csv", real)
    desk.write("copy.csv", real)
    desk.write("fresh.csv", people(150, seed=9))
    told = {}
    for name in ("copy", "fresh"):
        answer = desk.run("evaluate", "--real", "in/real.csv", "--synthetic", f"in/{name}.csv", "--json")
        assert answer.code == 0
        told[name] = answer.json["copies"]
        for share in ("copies", "twins", "excess"):
            found = told[name][share]
            assert 0 <= found["low"] <= found["share"] <= found["high"] <= 1
        assert ("COPIES" in answer.err) == (name == "copy")
        assert str(real[0]["income"]) not in answer.err
    assert told["copy"]["copies"]["share"] == 1
    assert set(told["copy"]["distances"]) == {0}
    assert told["fresh"]["excess"]["share"] < 0.2


def test_a_run_folder_serves_one_table(ordinary):
    assert ordinary.synth("--out", "a.csv").code == 0
    before = (ordinary.folder / "a.run" / "privacy.json").read_bytes()
    refused = ordinary.synth("--out", "a.jsonl")
    assert (refused.code, "another table, 'a.csv'" in refused.err) == (2, True)
    assert (ordinary.folder / "a.run" / "privacy.json").read_bytes() == before
    assert ordinary.synth("--out", "a.csv").code == 0
