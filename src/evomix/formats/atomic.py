"""Files that are whole or absent, and never destroy what was there before."""

import errno
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evomix.core.errors import EnvironmentFailure, SpecError

try:
    import fcntl
except ImportError:  # Windows: leftovers of a crash stay, harmless under their own names
    fcntl = None  # type: ignore[assignment]


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` to write to; when the block ends well it becomes ``path``.

    The temporary file is ``.{name}.{random}.partial`` in the same folder, mode 0644 less the umask. It is
    flushed to the disk before it takes the place of an older file, and removed when the block raises
    anything, Ctrl-C included. What a killed writer left for the same target is removed by the next good
    write; a file that another process is still writing is left alone. Of a symbolic link the target is
    replaced.

    Raises:
        SpecError: when ``path`` is a folder, a device or in a folder that does not exist.
        EnvironmentFailure: when the disk refuses (full, read-only); an older file at ``path`` is untouched.
    """
    target = _regular_target(path)
    claim, partial = _claim(target, path)
    try:
        yield partial
        _flush(partial)
        partial.replace(target)
    except BaseException as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _failure(path, error) from error
        raise
    finally:
        os.close(claim)
    _flush_folder(target.parent)
    remove_leftovers(target)


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as UTF-8 to ``path``, whole or not at all; raises as `atomic_write`."""
    with atomic_write(path) as partial:
        partial.write_bytes(text.encode("utf-8"))


def check_writable(path: str | Path) -> None:
    """Make sure that a file can be created at ``path``, before anything is spent on its content.

    Creates and removes a temporary file beside it: permissions alone do not tell of full or read-only disks.

    Raises:
        SpecError: when ``path`` is a folder, a device or in a folder that does not exist.
        EnvironmentFailure: when the disk refuses.
    """
    claim, partial = _claim(_regular_target(path), path)
    os.close(claim)
    with suppress(OSError):
        partial.unlink()


def check_place(path: str | Path) -> None:
    """Make sure that ``path`` can name a file; unlike `check_writable`, nothing is created, not for a moment.

    Raises:
        SpecError: when ``path`` is a folder, a device or in a folder that does not exist.
        EnvironmentFailure: when the disk refuses.
    """
    _regular_target(path)


def _regular_target(path: str | Path) -> Path:
    target = Path(os.path.realpath(path))
    try:
        if target.is_dir():
            raise SpecError(f"{path}: is a folder; name a file in it")
        if target.exists() and not target.is_file():
            raise SpecError(f"{path}: is not a regular file; name another")
        if not target.parent.is_dir():
            raise SpecError(f"{path}: the folder {target.parent} does not exist; create it first")
    except OSError as error:
        raise _failure(path, error) from error
    return target


def _claim(target: Path, path: str | Path) -> tuple[int, Path]:
    """Create the temporary file; return the descriptor that keeps it locked while its writer lives."""
    partial = target.with_name(f".{target.name}.{secrets.token_hex(8)}.partial")
    try:
        claim = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644)
    except OSError as error:
        raise _failure(path, error) from error
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return claim, partial


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Make the renaming durable where the system can; the file itself is whole already."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_leftovers(target: Path) -> None:
    """Remove what killed writers left for ``target``; a file that another process is still writing is left alone.

    A good write does it too: this is for whoever may have nothing more to write.
    """
    if fcntl is None:
        return
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}\.partial")
    with suppress(OSError):
        for file in target.parent.iterdir():
            if pattern.fullmatch(file.name):
                with suppress(OSError), file.open("rb") as leftover:
                    fcntl.flock(leftover, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises while its writer lives
                    file.unlink()


def _failure(path: str | Path, error: OSError) -> EnvironmentFailure:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            reason = "the disk is full; free some space"
        case errno.EFBIG:
            reason = "the file would exceed the size that this system allows"
        case errno.EROFS | errno.EACCES | errno.EPERM:
            reason = "the folder may not be written to; choose another, or change its permissions"
        case _:
            reason = error.strerror or type(error).__name__
    return EnvironmentFailure(
        f"{path}: cannot be written: {reason}. No partial file is left, an older one is untouched"
    )
