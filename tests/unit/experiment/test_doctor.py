import dataclasses
import os
import sys
from types import ModuleType

import numpy as np

from evomix.experiment import doctor
from evomix.experiment.doctor import checks
from evomix.modalities.text.llama_conversion import llama_conversion
from evomix.modalities.text.packaged import ModelPackage


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


def _package(monkeypatch, folder, *, there=True):
    """Let the doctor look for a language model package of this test's making."""
    package = ModelPackage("tiny-model", ">=1", "tiny_doctor_package", "*.gguf", "language model")
    monkeypatch.setattr(doctor, "WRITER", package)
    monkeypatch.setenv("EVOMIX_CACHE", str(folder / "cache"))
    monkeypatch.syspath_prepend(str(folder))
    if there:
        (folder / package.module).mkdir()
        (folder / package.module / "tiny.gguf").write_bytes(b"tiny")


def test_a_missing_text_model_is_a_choice_and_the_way_to_it_is_told(tmp_path, monkeypatch):
    _package(monkeypatch, tmp_path, there=False)
    check = _found("packaged language model", tmp_path / "l")
    assert check["ok"]
    assert check["detail"] == "tiny-model not installed (evomix doctor --install-text)"


def test_a_text_model_is_told_with_its_place_and_whether_it_is_converted(tmp_path, monkeypatch):
    _package(monkeypatch, tmp_path)
    detail = _found("packaged language model", tmp_path / "l")["detail"]
    assert str(tmp_path / "tiny_doctor_package" / "tiny.gguf") in detail
    assert "not converted yet" in detail
    assert not (tmp_path / "cache").exists()
    conversion = llama_conversion(tmp_path / "tiny_doctor_package" / "tiny.gguf")
    made = dataclasses.replace(conversion, convert=lambda folder: (folder / "model.bin").touch()).converted()
    assert f"converted in {made}" in _found("packaged language model", tmp_path / "l")["detail"]


def test_missing_packages_of_an_extra_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "EXTRAS", {"text": ("numpy", "no-such-package")})
    check = _found("extras", tmp_path / "l")
    assert check["ok"]
    version = np.__version__
    assert check["detail"] == (f'text: numpy {version}, no-such-package not installed (pip install "evomix[text]")')
