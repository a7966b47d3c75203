import os

import pandas as pd
import pytest

from evomix.experiment.identity import dataset_name, fingerprint
from evomix.experiment.spec import RunSpec
from evomix.privacy.ledger import Ledger


def _spec(private, **more):
    return RunSpec(private=private, epsilon=1.0, **more)


def test_a_file_is_known_by_its_content(tmp_path):
    first, copy, other = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    first.write_text("x\n1\n")
    copy.write_text("x\n1\n")
    other.write_text("x\n2\n")
    assert fingerprint(first) == fingerprint(str(copy)) != fingerprint(other)


@pytest.mark.parametrize("place", [0, 9_000_001, 17 * 2**20 - 1])
def test_a_large_file_is_known_by_pieces_from_end_to_end(tmp_path, place):
    path = tmp_path / "large.bin"
    content = bytearray(17 * 2**20)
    path.write_bytes(content)
    before = fingerprint(path)
    content[place] = 1
    path.write_bytes(content)
    seen = fingerprint(path) != before
    content[place] = 0
    path.write_bytes(content + b"\0")
    assert fingerprint(path) != before  # another length is always another table
    assert seen or place == 9_000_001  # what lies between the pieces may go unseen: the price of not reading all


def test_a_folder_is_known_by_all_its_files(tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "0.parquet").write_bytes(b"one")
    before = fingerprint(tmp_path)
    (tmp_path / "1.parquet").write_bytes(b"two")
    assert fingerprint(tmp_path) != before


def test_tables_in_memory_are_told_apart_and_named_by_a_keyed_digest(tmp_path):
    frame, other = pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": [1, 3]})
    assert fingerprint(frame) == fingerprint(frame.copy()) != fingerprint(other)
    first, second = Ledger(tmp_path / "one.sqlite"), Ledger(tmp_path / "two.sqlite")
    names = [dataset_name(_spec(frame), fingerprint(frame), ledger) for ledger in (first, first, second)]
    assert names[0] == names[1] != names[2]  # nobody can try tables against the name without the ledger's key
    assert names[0].startswith("memory:")
    assert fingerprint(frame).hex()[:16] not in names[0]


def test_a_data_set_is_named_by_its_user_or_by_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("x\n")
    ledger = Ledger()
    assert dataset_name(_spec("a.csv"), b"", ledger) == os.path.realpath(tmp_path / "a.csv")
    assert dataset_name(_spec("a.csv", dataset="clinic"), b"", ledger) == "clinic"
