import os
import sys
from types import ModuleType

import numpy as np

from evomix.experiment.doctor import checks


def _found(name, ledger):
    (check,) = [check for check in checks(ledger) if check["name"] == name]
    return check


def test_a_working_installation_passes(tmp_path):
    found = checks(tmp_path / "deep" / "ledger.sqlite")
    assert [check for check in found if not check["ok"]] == []
    assert not (tmp_path / "deep").exists()


def test_a_source_that_repeats_itself_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda size: bytes(range(size)))
    assert not _found("operating system randomness", tmp_path / "l")["ok"]


def test_a_sampler_with_half_the_noise_fails(tmp_path, monkeypatch):
    stub = ModuleType("evomix.privacy.lattice_noise")
    stub.LATTICE = 2**20
    rng = np.random.default_rng(0)
    stub.add_gaussian = lambda votes, *, stddev: votes + np.rint(rng.normal(size=votes.size) * 2**19).astype(int)
    monkeypatch.setitem(sys.modules, "evomix.privacy.lattice_noise", stub)
    assert not _found("OpenDP sampler", tmp_path / "l")["ok"]


def test_a_file_that_is_no_ledger_fails(tmp_path):
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"something else" * 50)
    assert not _found("ledger", path)["ok"]


def test_a_ledger_below_a_file_fails(tmp_path):
    (tmp_path / "file").write_text("x")
    assert not _found("ledger", tmp_path / "file" / "ledger.sqlite")["ok"]
