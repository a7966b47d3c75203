"""An encoder is tried on texts of ours before anything is charged: a run that it would end must not cost a budget."""

from typing import Final

import numpy as np

from evomix.core.errors import SpecError
from evomix.modalities.text.language_model import SentenceEncoder

TRIED: Final = (
    "",
    "a",
    "The bread was warm and the people were kind.",
    " ".join(["A much longer text, so that what depends on the length of companions has a chance to show it."] * 3),
    "caf\u00e9 \u05e9\u05dc\u05d5\u05dd \u6771\u4eac \U0001f680",
)
_LENGTH_ERROR: Final = 1e-3


def check_encoder(encoder: SentenceEncoder) -> None:
    """Refuse an encoder that gives no unit vectors, or whose vector of a text depends on others or changes.

    Raises:
        SpecError: as the first line says.
    """
    together = np.asarray(encoder.encode(TRIED))
    again = np.asarray(encoder.encode(TRIED[::-1]))[::-1]
    alone = [np.asarray(encoder.encode([text])) for text in TRIED]
    shapes = {together.shape, again.shape, (len(TRIED), *alone[0].shape[1:])}
    if together.ndim != 2 or len(shapes) > 1 or any(one.shape != alone[0].shape for one in alone):
        raise SpecError(f"expected one vector a text, all of one length, from embedder={encoder.name!r}")
    if not np.isfinite(together).all() or (np.abs(np.linalg.norm(together, axis=1) - 1.0) > _LENGTH_ERROR).any():
        raise SpecError(f"expected finite vectors of length 1 from embedder={encoder.name!r}")
    if not (np.array_equal(together, again) and np.array_equal(together, np.concatenate(alone))):
        raise SpecError(
            f"the vectors of embedder={encoder.name!r} depend on what else is encoded, or change from call to call: "
            "one person's text would move the votes of others, and the guarantee would be false"
        )
