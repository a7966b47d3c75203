"""What a run is recognised by: its data and its specification."""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from evomix.experiment.spec import RunSpec
from evomix.formats.table import read_table
from evomix.privacy.ledger import Ledger

MEMORY: Final = "memory:"
"""How the names of tables that have no name of their own begin; the rest stays in the ledger."""

_PIECE: Final = 1 << 20
_PIECES: Final = 16


def fingerprint(source: Any) -> bytes:
    """Return a digest that tells private inputs apart; it is kept only under the ledger's key.

    Files are told apart by size and up to sixteen pieces of one MiB, so that the cost does not grow with the file.
    """
    digest = hashlib.sha256()
    if isinstance(source, str | Path):
        path = Path(source)
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                _add_file(digest, file)
        return digest.digest()
    with pa.ipc.new_stream(_Sink(digest), (table := read_table(source)).schema) as writer:
        writer.write_table(table)
    return digest.digest()


def same_content(first: Any, second: Any) -> bool:
    """Return whether two inputs are one file, copies of one file, or equal tables in memory."""
    if first is second:
        return True
    paths = [isinstance(source, str | Path) for source in (first, second)]
    if any(paths) and not all(paths):
        return False
    if all(paths) and not (Path(first).exists() and Path(second).exists()):
        return False  # whoever opens them says so
    return fingerprint(first) == fingerprint(second)


def public_name(spec: RunSpec) -> str | None:
    """Return the name that a data set was given, or its file's; ``None`` for a table in memory without one."""
    if spec.dataset is not None:
        return spec.dataset
    return str(Path(spec.private).resolve()) if isinstance(spec.private, str | Path) else None


def dataset_name(spec: RunSpec, digest: bytes, ledger: Ledger) -> str:
    """Return the name that the data set's budget is kept under.

    Tables in memory have no name of their own: they are told apart by a digest under the ledger's secret key.
    """
    return public_name(spec) or f"{MEMORY}{ledger.seal(digest).hex()[:16]}"


def unit_in_words(spec: RunSpec) -> str:
    """Return what one unit of privacy is; part of every charge."""
    return "one row" if spec.unit is None else f"all rows with one value of {spec.unit!r}"


def spec_digest(settings: dict[str, Any], calibrated: dict[str, Any]) -> str:
    """Return a digest of the public settings that decide a run's result and of its calibrated mechanism.

    The mechanism is part of it because all rounds of a run must use one: rounds with different parameters are not
    covered by the guarantee, even if each would meet the budget alone.
    """
    return hashlib.sha256(json.dumps([settings, calibrated], sort_keys=True, default=str).encode()).hexdigest()


def _add_file(digest: Any, file: Path) -> None:
    size = file.stat().st_size
    digest.update(f"{size};".encode())
    with file.open("rb") as stream:
        if size <= _PIECE * _PIECES:
            digest.update(stream.read())
            return
        for piece in range(_PIECES):
            stream.seek((size - _PIECE) * piece // (_PIECES - 1))
            digest.update(stream.read(_PIECE))


class _Sink:
    """A file-like object that hashes what is written to it."""

    closed = False

    def __init__(self, digest: Any) -> None:
        self._digest = digest

    def write(self, piece: Any) -> int:
        self._digest.update(memoryview(piece))
        return len(memoryview(piece))

    def flush(self) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Nothing is held."""
