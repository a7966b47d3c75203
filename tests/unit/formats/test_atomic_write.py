import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evomix.core.errors import EnvironmentFailure, SpecError
from evomix.formats import atomic
from evomix.formats.atomic import atomic_write, check_writable, write_text


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_target_appears_whole_at_the_end(tmp_path):
    target = tmp_path / "out.csv"
    with atomic_write(target) as partial:
        assert partial.parent == tmp_path
        assert partial.name.startswith(".out.csv.")
        assert partial.name.endswith(".partial")
        partial.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert names(tmp_path) == ["out.csv"]


def test_the_mode_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_whatever_goes_wrong_the_old_file_stays(tmp_path, error):
    target = tmp_path / "out.csv"
    target.write_bytes(b"old\r\n")

    def fail():
        with atomic_write(target) as partial:
            partial.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert target.read_bytes() == b"old\r\n"
    assert names(tmp_path) == ["out.csv"]


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, "disk is full"), (errno.EROFS, "may not be written to"), (errno.EIO, "Input/output error")],
)
def test_a_failing_disk_is_a_clear_failure(tmp_path, monkeypatch, number, said):
    target = tmp_path / "out.csv"
    target.write_text("old")

    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(atomic.os, "fsync", fail)
    with pytest.raises(EnvironmentFailure, match=said):
        write_text(target, "new")
    monkeypatch.undo()
    assert target.read_text() == "old"
    assert names(tmp_path) == ["out.csv"]


def test_a_folder_that_refuses_is_found_before_anything_is_spent(tmp_path, monkeypatch):
    def fail(*_):
        raise PermissionError(errno.EACCES, "denied")

    monkeypatch.setattr(atomic.os, "open", fail)
    with pytest.raises(EnvironmentFailure, match=r"out\.csv: cannot be written: the folder may not"):
        check_writable(tmp_path / "out.csv")
    with pytest.raises(EnvironmentFailure):
        write_text(tmp_path / "out.csv", "x")


def test_check_writable_leaves_nothing_and_touches_nothing(tmp_path):
    target = tmp_path / "out.csv"
    check_writable(target)
    assert names(tmp_path) == []
    target.write_text("old")
    check_writable(target)
    assert target.read_text() == "old"
    assert names(tmp_path) == ["out.csv"]


def test_targets_that_are_no_files_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, said in [
        (tmp_path, "is a folder"),
        (tmp_path / "absent" / "out.csv", "does not exist"),
        (tmp_path / "pipe", "not a regular file"),
    ]:
        with pytest.raises(SpecError, match=said):
            check_writable(path)
        with pytest.raises(SpecError, match=said):
            write_text(path, "x")
    assert names(tmp_path) == ["pipe"]


def test_a_symbolic_link_keeps_pointing_to_its_target(tmp_path):
    real = tmp_path / "real.csv"
    real.write_text("old")
    (tmp_path / "link.csv").symlink_to(real)
    write_text(tmp_path / "link.csv", "new")
    assert (tmp_path / "link.csv").is_symlink()
    assert real.read_text() == "new"


KILLED = """
import sys, time
from evomix.formats.atomic import atomic_write
with atomic_write(sys.argv[1]) as partial, partial.open("w") as file:
    file.write("half")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


def test_case_81_a_killed_write_leaves_no_target_and_the_next_one_cleans_up(tmp_path):
    target = tmp_path / "out.csv"
    writer = subprocess.Popen([sys.executable, "-c", KILLED, str(target)], stdout=subprocess.PIPE)
    try:
        assert writer.stdout.readline() == b"writing\n"
        alive = names(tmp_path)
        assert len(alive) == 1
        assert alive[0].endswith(".partial")
        write_text(target, "good")
        assert names(tmp_path) == [*alive, "out.csv"]  # a living writer's file is left alone
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    assert target.read_text() == "good"
    other = tmp_path / ".other.csv.0123456789abcdef.partial"
    other.write_text("of another target")
    write_text(target, "better")
    assert names(tmp_path) == [other.name, "out.csv"]
    assert target.read_text() == "better"


LIMITED = """
import resource, sys
from pathlib import Path
from evomix.core.errors import EnvironmentFailure
from evomix.formats.table import write_table
import pyarrow as pa
table = pa.table({"a": [str(i) * 40 for i in range(10_000)]})
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
for name in sys.argv[1:]:
    try:
        write_table(table, name)
    except EnvironmentFailure as failure:
        print(failure)
"""


def test_case_81_a_write_that_runs_out_of_space_keeps_the_old_file(tmp_path):
    targets = [tmp_path / name for name in ("out.csv", "out.parquet", "out.jsonl")]
    for target in targets:
        target.write_text("old")
    done = subprocess.run([sys.executable, "-c", LIMITED, *targets], capture_output=True, text=True, check=True)
    assert done.stdout.count("would exceed the size") == 3, done.stdout + done.stderr
    assert [target.read_text() for target in targets] == ["old"] * 3
    assert names(tmp_path) == sorted(target.name for target in targets)
