"""Lets the tests of this folder share modules, and one parent of all processes that are killed."""

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
