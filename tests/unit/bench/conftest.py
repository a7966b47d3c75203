"""Tiny sets in the shape of the benchmarks' own files."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evomix.bench import table_census, table_classics, table_health
from evomix.bench.table_references import even_rows

ROWS = 240
GOOD = ("great", "lovely", "tasty", "excellent", "warm", "fresh")
BAD = ("awful", "cold", "rude", "terrible", "slow", "stale")
THINGS = ("food", "service", "phone", "film", "plot", "battery", "waiter", "screen", "soup", "ending")


def sentences(count, rng, *, words=THINGS, suffix=""):
    """Return texts and whether each is positive."""
    positive = np.arange(count) % 2
    texts = []
    for k, liked in enumerate(positive):
        first, second = rng.choice(GOOD if liked else BAD, 2, replace=False)
        one, other = rng.choice(words, 2, replace=False)
        texts.append(f"The {one} was {first} and, {k}, the {other} was {second}{suffix}. We said so.")
    return texts, positive.tolist()


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A folder with small tables under the names of all benchmarks."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)

    def write(name, **columns):
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")

    parts = {source: sentences(80, rng) for source in ("imdb", "yelp", "amazon")}
    write(
        "uci_sentiment",
        source=[source for source in parts for _ in range(80)],
        text=[text for texts, _ in parts.values() for text in texts],
        positive=pa.array([one for _, found in parts.values() for one in found], pa.int8()),
    )
    texts, positive = sentences(300, rng)
    write("medical_abstracts", text=texts, condition=[("neoplasms", "digestive", "nervous")[k % 3] for k in range(300)])
    write("pubmedqa_abstracts", text=sentences(60, rng)[0], answer=["yes"] * 60)
    write(
        "amazon_instruments",
        text=[*texts[:299], None],
        user=[f"u{k // 3}" for k in range(300)],
        rating=pa.array([1 + k % 2 + 3 * (k % 4 > 0) * (k % 2) + (k % 3 == 0) for k in range(300)], pa.int8()),
    )
    write("rt_polarity", text=sentences(60, rng)[0], positive=pa.array(positive[:60], pa.int8()))
    write("sms_spam", text=texts, label=["ham" if one else "spam" for one in positive])
    write("ag_news_7600", title=sentences(60, rng)[0], description=["x"] * 60)
    return folder


def write_files(folder):
    """Write small tables under the names of the table benchmarks' files, even over their schemas."""
    rng = np.random.default_rng(0)

    def write(name, schema, **more):
        made = even_rows(schema, ROWS, rng)
        columns = {column: made.column(column) for column in made.column_names}
        pq.write_table(pa.table(columns | more), folder / f"{name}.parquet")

    def cycle(*values):
        return [values[k % len(values)] for k in range(ROWS)]

    write("ldpa_30pct", table_classics._ACTIVITY, part=cycle("private", "private", "test", "public"))
    write("artificial_characters", table_classics._CHARACTERS, part=cycle("private", "private", "validation", "test"))
    write("adult_train", table_classics._ADULT)
    write("adult_test", table_classics._ADULT)
    write("bank_additional_full", table_classics._BANK, duration=cycle(1, 2), pdays=pa.array(cycle(999, 3)))
    states, homes = cycle("HI", "NM", "RI", "DE"), [f"h{k // 8}" for k in range(ROWS)]
    write("acs2018_14states", table_census._WIDE, state=states, SERIALNO=homes)
    write("nist_acs_2018_2019", table_census._NIST, region=cycle("TX", "MA", "TX", "NATIONAL"))
    write("brfss2015_diabetes", table_health._BRFSS)
    codes = pa.array(cycle("250.83", "V57", "401", None, "786", "13"))
    patients = [k // 3 for k in range(ROWS)]
    write("diabetes_readmission", table_health._STAYS, patient_nbr=patients, diag_1=codes, diag_2=codes, diag_3=codes)


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """A folder with small tables under the names of the table benchmarks' files, one of them in a folder of its own."""
    folder = tmp_path_factory.mktemp("tables")
    write_files(folder)
    (folder / "bank_marketing").mkdir()
    (folder / "bank_additional_full.parquet").rename(folder / "bank_marketing" / "bank_additional_full.parquet")
    return folder
