"""Templates to pages: everything escaped, nothing loaded from elsewhere."""

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from evomix.reports.wording import count, percent, small_number


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("evomix.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"count": count, "percent": percent, "small_number": small_number}
    return environment


def render_page(template: str, **values: Any) -> str:
    """Return a page that any browser opens and any editor saves: no control characters, no lone surrogates."""
    page = _environment().get_template(template).render(**values)
    readable = "".join(c for c in page if c in "\n\t" or (c >= " " and c != "\x7f"))
    return readable.encode("utf-8", "replace").decode("utf-8")
