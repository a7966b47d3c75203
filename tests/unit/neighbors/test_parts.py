import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evomix
from evomix.core import compiled as compiled_module
from evomix.core.compiled import compiled
from evomix.neighbors.blocks import for_each_block
from evomix.neighbors.copies import find_copies


@given(st.lists(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.0]), min_size=2, max_size=2), min_size=1, max_size=30))
def test_copies_are_grouped_in_order_of_appearance(rows):
    copies = find_copies(np.array(rows))
    groups = {}
    for position, row in enumerate(rows):
        groups.setdefault(tuple(row), []).append(position)  # 0.0 and -0.0 are one key

    assert copies.starts[0] == 0
    assert [part.tolist() for part in np.split(copies.members, copies.starts[1:-1])] == list(groups.values())
    assert copies.first.tolist() == [members[0] for members in groups.values()]


def test_copies_without_columns():
    copies = find_copies(np.empty((3, 0)))
    assert copies.first.tolist() == [0]
    assert copies.members.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("rows", "block"), [(0, 4), (1, 4), (4, 4), (9, 4), (100, 1)])
def test_blocks_cover_every_row_once(rows, block):
    seen = np.zeros(rows, int)

    def work(part):
        assert part.stop - part.start <= block
        seen[part] += 1

    for_each_block(work, rows=rows, block=block)
    assert (seen == 1).all()


def test_an_error_in_a_block_is_raised():
    def work(part):
        if part.start == 6:
            raise KeyError(part.start)

    with pytest.raises(KeyError):
        for_each_block(work, rows=20, block=2)


def test_blocks_run_side_by_side(monkeypatch):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 2)
    meeting = threading.Barrier(2, timeout=20)
    for_each_block(lambda _: meeting.wait(), rows=2, block=1)


def test_compiles_without_a_cache_where_none_can_be_written(monkeypatch):
    asked = []

    def refuse_to_cache(function, *, cache):
        asked.append(cache)
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return function

    monkeypatch.setattr(compiled_module, "_decorated", refuse_to_cache)
    assert compiled(abs) is abs
    assert asked == [True, False]


def test_works_where_no_cache_can_be_written(tmp_path):
    # Plain files where directories would have to be: not even root can write below them.
    package = tmp_path / "evomix"
    shutil.copytree(Path(evomix.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for blocked in (package / "neighbors" / "__pycache__", tmp_path / "home"):
        blocked.touch()
    code = (
        "import numpy as np; from evomix.neighbors import tabular; one = np.ones(1, np.float32);"
        "index = tabular.TabularIndex(one[None], kinds=np.zeros(1, np.uint8), weights=one);"
        "print(tabular.__file__, index.nearest(one[None]), tabular._scan._cache)"
    )
    home = str(tmp_path / "home")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "HOME": home, "XDG_CACHE_HOME": home}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) in done.stdout
    assert "[0]" in done.stdout
    assert "NullCache" in done.stdout
