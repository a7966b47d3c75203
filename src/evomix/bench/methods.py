"""What is compared: settings of a run by name, and the references that every method is read beside."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from evomix.core.errors import SpecError
from evomix.experiment.presets import PRESETS

METHODS: Final[Mapping[str, Mapping[str, Any]]] = {"default": {}} | {name: {"preset": name} for name in PRESETS}
"""Settings by method: a run that is told nothing, and the published algorithms."""
USUAL: Final = ("default", "aug-pe", "pe", "gape", "pubmix", "pubmix-gape")
"""Methods of a benchmark that is told none."""
REFERENCES: Final = {
    "real_all": "ceiling: all real training records",
    "real_same_rows": "ceiling: as many real records",
    "public_all": "floor: all public records",
    "public_same_rows": "floor: as many public records",
    "first": "floor: first candidates, without a vote",
}
"""Titles of the references, none of which costs budget or is made of a release."""
FIXED: Final = ("real_all", "public_all")
"""References in which nothing is drawn, so that one repetition says all."""


def chosen_methods(names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the methods to compare, each once; the usual ones where none is named.

    Raises:
        SpecError: no such method, or an empty list.
    """
    found = USUAL if names is None else tuple(dict.fromkeys(names))
    unknown = [name for name in found if name not in METHODS]
    if unknown or not found:
        raise SpecError(f"expected methods among {', '.join(METHODS)}; found methods={', '.join(unknown) or 'none'!r}")
    return found
