"""What is compared: settings of a run by name, rivals, and the references that every method is read beside."""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, Final

from evomix.bench.rivals.registry import RIVALS, USUAL, is_installed
from evomix.core.errors import SpecError
from evomix.experiment.presets import PRESETS
from evomix.selection.methods import SELECTIONS

TEXT_METHODS: Final[Mapping[str, Mapping[str, Any]]] = {"default": {}} | {name: {"preset": name} for name in PRESETS}
"""Settings by method: a run that is told nothing, and the published algorithms."""
_MECHANISMS: Final = ("gaussian", "linmix", "pubmix")


def _presets() -> dict[str, dict[str, Any]]:
    """Return the presets as methods of tables; one whose name is a mechanism's is "as published"."""
    return {f"{name}-published" if name in _MECHANISMS else name: {"preset": name} for name in PRESETS}


TABLE_METHODS: Final[Mapping[str, Mapping[str, Any]]] = {
    "default": {},
    "schema-only": {"public": None},
    "linmix-schema-only": {"mechanism": "linmix", "public": None},
    **{f"{one}-{other}": {"mechanism": one, "selection": other} for one, other in product(_MECHANISMS, SELECTIONS)},
    **_presets(),
    **{name: {"mechanism": name} for name in _MECHANISMS},
}
"""Settings by method of tables: also without the public table, by mechanism, and by mechanism and selection. "pubmix"
is the mechanism, all else as a run chooses it; its preset is "pubmix-published"."""
TEXT_REFERENCES: Final = {
    "real_all": "ceiling: all real training records",
    "real_same_rows": "ceiling: as many real records",
    "public_all": "floor: all public records",
    "public_same_rows": "floor: as many public records",
    "first": "floor: first candidates, without a vote",
}
"""Titles of the references of texts, none of which costs budget or is made of a release."""
TABLE_REFERENCES: Final = {
    "real_all": "ceiling: all real training records",
    "real_same_rows": "ceiling: as many real records",
    "real_bootstrap": "ceiling: real records, drawn with repeats",
    "public_all": "floor: all public records",
    "public_same_rows": "floor: as many public records",
    "real_columns": "floor: real columns, each by itself",
    "uniform": "floor: even over the schema",
}
"""Titles of the references of tables."""
FIXED: Final = ("real_all", "public_all")
"""References in which nothing is drawn, so that one repetition says all."""
_USUAL_OF_EVOMIX: Final = {
    "text": ("default", "aug-pe", "pe", "gape", "pubmix", "pubmix-gape"),
    "table": ("default", "schema-only", "pubmix", "linmix", "gaussian-rank", "gaussian-gape"),
}


def usual_methods(kind: str) -> tuple[str, ...]:
    """Return the methods of a benchmark that is told none: of tables, the usual rivals that are installed as well."""
    rivals = (one.name for one in RIVALS if one.name in USUAL and is_installed(one)) if kind == "table" else ()
    return (*_USUAL_OF_EVOMIX[kind], *rivals)


def known_methods(kind: str) -> tuple[str, ...]:
    """Return the names of all methods for records of a kind."""
    return (*TABLE_METHODS, *(one.name for one in RIVALS)) if kind == "table" else tuple(TEXT_METHODS)


def chosen_methods(names: Iterable[str] | None, kind: str) -> tuple[str, ...]:
    """Return the methods to compare, each once; the usual ones where none is named.

    Raises:
        SpecError: no such method for records of this kind, or an empty list.
    """
    known = known_methods(kind)
    found = usual_methods(kind) if names is None else tuple(dict.fromkeys(names))
    unknown = [name for name in found if name not in known]
    if unknown or not found:
        raise SpecError(f"expected methods among {', '.join(known)}; found methods={', '.join(unknown) or 'none'!r}")
    return found


def title_of(name: str) -> str:
    """Return what readers are shown for a method or reference."""
    titles = TEXT_REFERENCES | TABLE_REFERENCES | {one.name: one.title for one in RIVALS}
    return titles.get(name, name)
