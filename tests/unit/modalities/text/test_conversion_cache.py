import os
import threading
import time

import pytest

from evomix.core.errors import EnvironmentFailure, InputFileError
from evomix.modalities.text.conversion_cache import Conversion, cache_folder


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOMIX_CACHE", str(tmp_path / "cache"))


class Converter:
    def __init__(self, text="weights"):
        self.text = text
        self.runs = 0

    def __call__(self, folder):
        self.runs += 1
        (folder / "model.bin").write_text(self.text)
        (folder / "config.json").write_text("{}")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "a model.gguf"
    path.write_text("source")
    return path


def test_a_model_is_converted_once(source):
    converter = Converter()
    conversion = Conversion(sources=(source,), version="1", convert=converter)
    assert not conversion.there
    folder = conversion.converted()
    assert conversion.there
    assert conversion.converted() == folder
    assert (folder / "model.bin").read_text() == "weights"
    assert converter.runs == 1
    assert list(cache_folder().iterdir()) == [folder]


@pytest.mark.parametrize("change", ["text", "time", "version", "name"])
def test_another_source_or_version_is_another_folder(source, change):
    before = Conversion(sources=(source,), version="1", convert=Converter()).folder
    if change == "text":
        source.write_text("longer source")
        os.utime(source, ns=(0, 0))
        before = Conversion(sources=(source,), version="1", convert=Converter()).folder
        source.write_text("source")
        os.utime(source, ns=(0, 0))
    elif change == "time":
        os.utime(source, ns=(0, 0))
    elif change == "name":
        source = source.rename(source.with_name("b.gguf"))
    version = "2" if change == "version" else "1"
    assert Conversion(sources=(source,), version=version, convert=Converter()).folder != before


@pytest.mark.parametrize("damage", ["cut", "flip", "lost", "seal", "empty", "a file", "list"])
def test_a_damaged_conversion_is_made_anew(source, damage):
    converter = Converter()
    conversion = Conversion(sources=(source,), version="1", convert=converter)
    folder = conversion.converted()
    model, seal = folder / "model.bin", folder / "digests.json"
    if damage == "cut":
        model.write_text("weig")
    elif damage == "flip":
        model.write_text("weighty")
    elif damage == "lost":
        model.unlink()
    elif damage == "seal":
        seal.write_text("{")
    elif damage == "empty":
        seal.write_text("{}")
    elif damage == "list":
        seal.write_text('["model.bin"]')
    else:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        folder.write_text("in the way")
    assert not conversion.there
    assert conversion.converted() == folder
    assert model.read_text() == "weights"
    assert converter.runs == 2
    assert list(cache_folder().iterdir()) == [folder]


def test_converting_at_the_same_time_does_no_harm(source):
    together = threading.Barrier(4)
    folders = []

    def slow(folder):
        Converter()(folder)
        together.wait(timeout=20)  # all four are in the middle of it

    def run():
        folders.append(Conversion(sources=(source,), version="1", convert=slow).converted())

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(folders) == 4
    assert set(folders) == set(cache_folder().iterdir())
    assert Conversion(sources=(source,), version="1", convert=slow).there


def test_a_conversion_that_fails_leaves_nothing(source):
    def fails(folder):
        (folder / "model.bin").write_text("half")
        raise InputFileError("damaged")

    with pytest.raises(InputFileError, match="damaged"):
        Conversion(sources=(source,), version="1", convert=fails).converted()
    assert list(cache_folder().iterdir()) == []


def test_a_cache_that_cannot_be_made_says_what_to_set(source, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EVOMIX_CACHE", str(tmp_path / "file"))
    with pytest.raises(EnvironmentFailure, match="set EVOMIX_CACHE"):
        Conversion(sources=(source,), version="1", convert=Converter()).converted()


def test_a_source_that_is_gone_is_told(source):
    conversion = Conversion(sources=(source,), version="1", convert=Converter())
    source.unlink()
    with pytest.raises(EnvironmentFailure, match="install the model again"):
        conversion.converted()


def test_a_full_disk_says_so(source):
    def full(folder):
        raise OSError(28, "No space left on device")

    with pytest.raises(EnvironmentFailure, match="No space left on device"):
        Conversion(sources=(source,), version="1", convert=full).converted()


def test_what_killed_conversions_left_is_removed(source):
    cache_folder().mkdir(parents=True)
    old, young = cache_folder() / "making-old", cache_folder() / "making-young"
    for folder in (old, young):
        folder.mkdir()
    long_ago = time.time() - 3 * 24 * 3600
    os.utime(old, (long_ago, long_ago))
    Conversion(sources=(source,), version="1", convert=Converter()).converted()
    assert not old.exists()
    assert young.exists()


def test_without_the_variable_it_is_the_users_own_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("EVOMIX_CACHE")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / name)
    assert cache_folder() == tmp_path / "evomix" / "models"
