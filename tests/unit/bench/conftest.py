"""Tiny sets in the shape of the benchmarks' own files."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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
