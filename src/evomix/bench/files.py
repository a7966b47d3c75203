"""Where a benchmark's files are."""

from collections.abc import Iterable
from pathlib import Path

from evomix.core.errors import SpecError


def find_files(folder: str | Path, names: Iterable[str], *, who: str) -> dict[str, Path]:
    """Return where a benchmark's files lie: in ``folder``, or in a folder in it.

    Raises:
        SpecError: one is not there, or in several places.
    """
    place, wanted = Path(folder), tuple(names)
    found = {name: [place / name] if (place / name).is_file() else sorted(place.glob(f"*/{name}")) for name in wanted}
    if lacking := [name for name, paths in found.items() if not paths]:
        raise SpecError(f"{who} reads {', '.join(wanted)}; not found in data={str(folder)!r}: {', '.join(lacking)}")
    if twice := [name for name, paths in found.items() if len(paths) > 1]:
        raise SpecError(f"{who} reads {', '.join(wanted)}; several in data={str(folder)!r}: {', '.join(twice)}")
    return {name: paths[0] for name, paths in found.items()}
