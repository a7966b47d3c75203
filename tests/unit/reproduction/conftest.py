import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evomix.reproduction.census import COLUMNS, read_states
from evomix.reproduction.figure import Request
from evomix.reproduction.texts import read_texts

SIZES = {"AA": 300, "BB": 420, "CC": 200, "DD": 160}


def made_up(sizes=None, *, seed=0):
    """Return made-up rows of states: each state leans towards codes of its own."""
    rng = np.random.default_rng(seed)
    columns = {"state": [], **{column.name: [] for column in COLUMNS}}
    for k, (name, rows) in enumerate((sizes or SIZES).items()):
        columns["state"] += [name] * rows
        for column in COLUMNS:
            lean = np.exp(-0.8 * np.abs(np.arange(column.levels) - (k % 3)))
            codes = column.least + rng.choice(column.levels, size=rows, p=lean / lean.sum())
            columns[column.name] += [None if code == 0 else int(code) for code in codes]
    return columns


def write(columns, path):
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    pq.write_table(table, path)
    return path


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    return write(made_up(), tmp_path_factory.mktemp("states") / "states.parquet")


@pytest.fixture(scope="session")
def states(data):
    return read_states(data)


@pytest.fixture(scope="session")
def request_quick(states):
    return Request(states, seeds=2, quick=True)


TOPICS = {"alpha": 110, "beta": 75, "gamma": 60}


def made_up_texts(*, seed=0):
    """Return made-up texts: a topic has words of its own, beside a few that all share."""
    rng = np.random.default_rng(seed)
    columns = {"title": [], "topic": [], "body": []}
    for topic, size in TOPICS.items():
        words = [*(f"{topic}{k}" for k in range(25)), *(f"common{k}" for k in range(8))]
        for _ in range(size):
            sentences = [" ".join(rng.choice(words, 5)).capitalize() + "." for _ in range(rng.integers(2, 5))]
            columns["title"].append(sentences[0].rstrip("."))
            columns["topic"].append(topic)
            columns["body"].append(" ".join(sentences[1:]))
    return columns


@pytest.fixture(scope="session")
def text_columns():
    return made_up_texts()


@pytest.fixture(scope="session")
def text_file(tmp_path_factory, text_columns):
    path = tmp_path_factory.mktemp("texts") / "texts.parquet"
    pq.write_table(pa.table(text_columns), path)
    return path


@pytest.fixture(scope="session")
def texts(text_file):
    return read_texts(text_file)
