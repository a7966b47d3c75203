"""A column type, a privacy record and a strict HTML reader, shared by the tests of this folder."""

from dataclasses import dataclass
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}


@dataclass(frozen=True, slots=True)
class Made:
    name: str
    type: str
    values: tuple[str, ...] = ()
    min: float | None = None
    max: float | None = None
    missing: bool = False


PRIVACY = {
    "private": True,
    "epsilon": 1.0,
    "delta": 1e-6,
    "adjacency": "replace-one",
    "unit": "one row",
    "unit_column": None,
    "n": 32561,
    "mechanism": "pubmix",
    "rounds": 3,
    "draws": 5000,
    "mixing_weight": 0.2134,
    "floor": 5e-5,
    "candidates": 4000,
    "selection": "subsample",
    "public_data": True,
    "dataset": "adult",
    "charges": [{"run_id": "ab12", "epsilon": 1.0, "delta": 1e-6}],
    "software": {"evomix": "0.1.0", "python": "3.11.7"},
}


class Page(HTMLParser):
    """Reads a page, insists that tags are balanced, and keeps texts, ids, tags and attributes."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.ids, self.texts = [], [], [], [], []
        self.feed(page)
        self.close()
        assert not self.open, f"left open: {self.open}"

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for key, value in attrs if key == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> out of place"

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)
