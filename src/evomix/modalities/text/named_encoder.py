"""Sentence encoders by the name that a user gives."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evomix.core.errors import SpecError
from evomix.modalities.text.language_model import SentenceEncoder

NAMES: Final = ("minilm", "tfidf")
"""Encoders that have a name of their own."""
DEFAULT: Final = "minilm"


def make_encoder(name: str = DEFAULT, public: Sequence[str] | None = None) -> SentenceEncoder:
    """Return the encoder called ``name``.

    Args:
        name: ``minilm`` (the packaged model), ``tfidf`` (learned from ``public``), ``MODULE:FUNCTION`` (a function of a
            list of texts), or a folder with a model that transformers runs.
        public: public texts that an encoder may learn from; private ones never enter.

    Raises:
        SpecError: no such encoder, or public texts that are missing or too few to learn from.
        EnvironmentFailure: what runs it is not installed.
    """
    if name == "minilm":
        from evomix.modalities.text.minilm import MiniLM  # noqa: PLC0415  (needs an optional runtime)

        return MiniLM()
    if name == "tfidf":
        if not public:
            raise SpecError("expected public texts to learn --embedder=tfidf from, found none; name a public table")
        from evomix.modalities.text.tfidf import TfidfEncoder  # noqa: PLC0415

        return TfidfEncoder.fit(public)
    if name and Path(name).is_dir():
        from evomix.modalities.text.folder_encoder import FolderEncoder  # noqa: PLC0415

        return FolderEncoder.load(name)
    if ":" in name:
        from evomix.modalities.text.function_encoder import FunctionEncoder  # noqa: PLC0415

        return FunctionEncoder.load(name)
    raise SpecError(
        f"expected --embedder {' or '.join(NAMES)}, MODULE:FUNCTION or a model folder, found --embedder={name!r}"
    )
