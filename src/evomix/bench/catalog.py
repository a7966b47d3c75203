"""Which benchmarks there are. Says what each needs; the code that reads it is elsewhere."""

from dataclasses import dataclass
from typing import Final

from evomix.core.errors import SpecError


@dataclass(frozen=True, slots=True)
class Entry:
    """A benchmark.

    Attributes:
        name: how it is called.
        what: private against public records, and the task, in a line.
        files: what the folder of data must hold, the private table first.
        rows: synthetic records of a method by default.
        kind: what records are.
    """

    name: str
    what: str
    files: tuple[str, ...]
    rows: int = 200
    kind: str = "text"


CATALOG: Final = (
    Entry(
        "text-sentiment",
        "Yelp sentences, public Amazon and IMDb ones; is it positive",
        ("uci_sentiment.parquet",),
    ),
    Entry(
        "text-medical",
        "medical abstracts, public PubMedQA ones without labels; which of 5 conditions",
        ("medical_abstracts.parquet", "pubmedqa_abstracts.parquet"),
    ),
    Entry(
        "text-instruments",
        "reviews of instruments, protected by user, public film snippets; which rating of 1 to 5",
        ("amazon_instruments.parquet", "rt_polarity.parquet"),
    ),
    Entry(
        "text-sms",
        "text messages, public news without labels; is it spam",
        ("sms_spam.parquet", "ag_news_7600.parquet"),
    ),
)


def entry(name: str) -> Entry:
    """Return the benchmark called ``name``.

    Raises:
        SpecError: there is none.
    """
    for one in CATALOG:
        if one.name == name:
            return one
    raise SpecError(f"expected a benchmark among {', '.join(one.name for one in CATALOG)}; found name={name!r}")
