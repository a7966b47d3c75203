"""Reading a GGUF file: named facts about a model, its vocabulary, and its weights as float32."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evomix.core.errors import InputFileError
from evomix.modalities.text.ctranslate2_runtime import load


class GgufFile:
    """An open GGUF file.

    Args:
        path: of the file.

    Raises:
        InputFileError: it is no whole GGUF file.
        EnvironmentFailure: the package ``gguf`` is not installed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._gguf = load("gguf")
        try:
            reader = self._gguf.GGUFReader(path)
            self._fields = dict(reader.fields)
            self._tensors = {tensor.name: tensor for tensor in reader.tensors}
        except Exception as error:  # the reader raises whatever the damaged bytes lead it to
            raise InputFileError(f"this is no whole GGUF file: path={path}; download it again") from error

    def fact(self, key: str, default: Any = None) -> Any:
        """Return the value of a key (lists too), or ``default`` if the file has no such key.

        Raises:
            InputFileError: the value cannot be read.
        """
        if key not in self._fields:
            return default
        try:
            return self._fields[key].contents()
        except Exception as error:
            raise InputFileError(f"a GGUF file has an unreadable entry: path={self.path} key={key}") from error

    def needed(self, key: str) -> Any:
        """Return the value of a key that every model must have.

        Raises:
            InputFileError: it is not there, or cannot be read.
        """
        value = self.fact(key)
        if value is None:
            raise InputFileError(f"a GGUF file lacks an entry that its model needs: path={self.path} key={key}")
        return value

    def has(self, name: str) -> bool:
        """Return whether there is a tensor of that name."""
        return name in self._tensors

    def weights(self, name: str) -> NDArray[np.float32]:
        """Return a tensor as float32, whatever it was quantised to; rows are outputs.

        Raises:
            InputFileError: it is not there, or of a kind that cannot be read.
        """
        if name not in self._tensors:
            raise InputFileError(f"a GGUF file lacks weights that its model needs: path={self.path} tensor={name}")
        tensor = self._tensors[name]
        try:
            plain = self._gguf.dequantize(tensor.data, tensor.tensor_type)
        except Exception as error:
            raise InputFileError(
                f"weights of a GGUF file are quantised in a way that cannot be read: path={self.path} tensor={name} "
                f"quantisation={tensor.tensor_type.name}; use a file of kind Q8_0, Q4_1 or F16"
            ) from error
        shape = tuple(int(side) for side in reversed(tensor.shape))  # GGUF names the fastest side first
        # Unquantised weights are views of the file; the converter scales in place.
        return np.require(plain, np.float32, ["C", "W"]).reshape(shape)
