"""Models in the form their runtime reads, made once and kept in the user's cache folder; public models only.

A conversion appears whole or not at all: it is made in a folder of its own and moved into place, so that processes
that convert at the same time do no harm. Each file's digest is kept beside it; what does not match is made anew.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

from evomix.core.errors import EnvironmentFailure

CACHE_VARIABLE: Final = "EVOMIX_CACHE"
_SEAL: Final = "digests.json"
_SCRATCH: Final = "making-"
_ABANDONED_S: Final = 24 * 3600.0


def cache_folder() -> Path:
    """Return the folder of converted models: below ``EVOMIX_CACHE``, else below the user's cache folder."""
    named = os.environ.get(CACHE_VARIABLE)
    return (Path(named) if named else platformdirs.user_cache_path("evomix")) / "models"


@dataclass(frozen=True, slots=True)
class Conversion:
    """How files of a model become a folder that the runtime reads.

    Attributes:
        sources: the files it is made of; the first names it.
        version: of the conversion; another version is another folder.
        convert: fills the empty folder it is given.
    """

    sources: Sequence[Path]
    version: str
    convert: Callable[[Path], None]

    @property
    def folder(self) -> Path:
        """Where the converted model is, or would be; another source or version has another place.

        Raises:
            EnvironmentFailure: a source is not there.
        """
        first = self.sources[0]
        key = hashlib.sha256(self.version.encode())
        for source in self.sources:
            try:
                seen = source.stat()
            except OSError as error:
                raise EnvironmentFailure(
                    f"a file of a model cannot be read: path={source} ({error.strerror}); install the model again"
                ) from error
            key.update(f"\0{source.name}\0{seen.st_size}\0{seen.st_mtime_ns}".encode())
        plain_name = re.sub(r"[^A-Za-z0-9.-]+", "-", first.stem)[:60]
        return cache_folder() / f"{plain_name}-{key.hexdigest()[:16]}"

    @property
    def there(self) -> bool:
        """Whether the converted model is in the cache, whole."""
        return _whole(self.folder)

    def converted(self) -> Path:
        """Return the folder of the converted model, made now if it is not there or damaged.

        Raises:
            EnvironmentFailure: a source is not there, or the cache cannot be written.
        """
        folder = self.folder
        if _whole(folder):
            return folder
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            _sweep(folder.parent)
            scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=folder.parent))
        except OSError as error:
            raise _unwritable(folder.parent, error) from error
        try:
            made = scratch / "made"
            made.mkdir()
            self.convert(made)
            _seal(made)
            _put(made, folder, scratch)
        except OSError as error:
            raise _unwritable(folder.parent, error) from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        return folder


def _unwritable(folder: Path, error: OSError) -> EnvironmentFailure:
    return EnvironmentFailure(
        f"converted models need a folder that can be written: folder={folder} ({error.strerror}); "
        f"free some space there or set {CACHE_VARIABLE} to another folder"
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def _seal(folder: Path) -> None:
    digests = {path.name: _digest(path) for path in sorted(folder.iterdir())}
    (folder / _SEAL).write_text(json.dumps(digests), encoding="utf-8")


def _whole(folder: Path) -> bool:
    try:
        digests = json.loads((folder / _SEAL).read_text(encoding="utf-8"))
        return bool(digests) and all(_digest(folder / name) == digest for name, digest in digests.items())
    except (OSError, ValueError, AttributeError, TypeError):  # absent, unreadable, or not what was written
        return False


def _put(made: Path, folder: Path, scratch: Path) -> None:
    """Move what was made into place; another process may have been faster, and a damaged folder may be in the way."""
    with contextlib.suppress(OSError):
        made.rename(folder)
        return
    if _whole(folder):
        return
    with contextlib.suppress(FileNotFoundError):
        folder.rename(scratch / "damaged")
    try:
        made.rename(folder)
    except OSError:
        if not _whole(folder):
            raise


def _sweep(parent: Path) -> None:
    """Remove what killed conversions left behind."""
    for scratch in parent.glob(f"{_SCRATCH}*"):
        with contextlib.suppress(OSError):
            if time.time() - scratch.stat().st_mtime > _ABANDONED_S:
                shutil.rmtree(scratch, ignore_errors=True)
