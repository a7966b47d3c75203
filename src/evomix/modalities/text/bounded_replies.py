"""A reply that trickles or never ends is given up: by the time that an attempt may take, and by a size."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

MOST_BYTES: Final = 8 << 20
"""Far more than the longest answer takes."""
_BEGAN: Final = "evomix_began"


def bounded(openai: Any, timeout_s: float) -> dict[str, list[Callable[[Any], None]]]:
    """Return hooks of the client's HTTP library that bound the body of each reply.

    Its headers are bounded by the library, which waits at most ``timeout_s`` for each byte.

    Args:
        openai: the library of the client.
        timeout_s: seconds from the request to the end of its reply.
    """
    http = sys.modules[openai.DefaultHttpxClient.__mro__[1].__module__.split(".", maxsplit=1)[0]]

    # The library is known at run time only.
    class Bounded(http.SyncByteStream):  # type: ignore[misc, name-defined]
        """The bytes of another stream, until they are too many or too late."""

        def __init__(self, stream: Any, request: Any) -> None:
            self._stream, self._request = stream, request

        def __iter__(self) -> Iterator[bytes]:
            size, until = 0, self._request.extensions[_BEGAN] + timeout_s
            for piece in self._stream:
                size += len(piece)
                if time.monotonic() > until:
                    raise http.ReadTimeout("the answer did not end in time", request=self._request)
                if size > MOST_BYTES:
                    raise http.ReadError("the answer is too large", request=self._request)
                yield piece

        def close(self) -> None:
            self._stream.close()

    def begin(request: Any) -> None:
        request.extensions[_BEGAN] = time.monotonic()

    def bind(response: Any) -> None:
        response.stream = Bounded(response.stream, response.request)

    return {"request": [begin], "response": [bind]}
