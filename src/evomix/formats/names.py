"""The rule for column names: each has text, and no two are equal."""

from collections import Counter
from collections.abc import Sequence

from evomix.core.errors import InputFileError


def check_names(names: Sequence[str], place: str) -> None:
    """Refuse a table without columns, an unnamed column or a repeated name.

    A repeated name that reads as a number is told by its positions only: it is more likely a record at the
    top of a file without a header, and cells are never quoted.

    Args:
        names: column names in order.
        place: the file (and line) the message starts with.

    Raises:
        InputFileError: naming the place and the columns.
    """
    if not names:
        raise InputFileError(f"{place}: the table has no columns")
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise InputFileError(
                f"{place}: column {position} of {len(names)} has no name; "
                "name it, or remove the surplus delimiter from every line"
            )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputFileError(f"{place}: {'; '.join(_describe(name, names) for name in repeated[:5])}")


def _describe(name: str, names: Sequence[str]) -> str:
    positions = [str(i) for i, other in enumerate(names, start=1) if other == name]
    where = f"columns {', '.join(positions[:-1])} and {positions[-1]}"
    if reads_as_number(name):
        return f"duplicate column name in {where}; is the line with the names missing?"
    return f"duplicate column name {name!r} ({where}); names must differ"


def reads_as_number(text: str) -> bool:
    """Tell whether a column name reads as a number, as the cells of a record at the top of a file do."""
    try:
        float(text.replace(",", ""))
    except ValueError:
        return False
    return True
