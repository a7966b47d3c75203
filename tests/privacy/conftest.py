"""Lets the tests of this folder share modules, and one parent of all processes that are killed."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def victims(tmp_path_factory):
    from victims import Victims

    parent = Victims(tmp_path_factory.mktemp("logs"))
    yield parent
    parent.close()


@pytest.fixture
def house(tmp_path, victims):
    from house import House

    return House(tmp_path, victims)


@pytest.fixture(scope="session")
def interrupted_once(tmp_path_factory, victims):
    from house import House

    house = House(tmp_path_factory.mktemp("interrupted"), victims)
    house.interrupt()
    return house.folder


@pytest.fixture
def interrupted(tmp_path, victims, interrupted_once):
    """Return a house of its own with a run that was killed after two rounds."""
    from house import House

    folder = tmp_path / "house"
    shutil.copytree(interrupted_once, folder)
    return House(folder, victims)
