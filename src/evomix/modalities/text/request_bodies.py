"""A request in the words of the OpenAI protocol, less the settings that a server does not know."""

import threading
from typing import Any

from evomix.modalities.text.http_replies import Api, whole
from evomix.modalities.text.language_model import Request

_OPTIONAL = frozenset({"seed", "top_p", "temperature"})


class Wording:
    """Makes bodies of requests for one model, and learns what its server takes. Safe to share between threads.

    The limit of tokens is sent as ``max_tokens``, which every server knows or refuses aloud; only a server that refuses
    it gets ``max_completion_tokens``, which others ignore in silence.
    """

    def __init__(self, model: str, api: Api) -> None:
        self.api = api
        self._model = model
        self._dropped: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    @property
    def dropped(self) -> tuple[str, ...]:
        """Settings that are left out, in alphabetical order."""
        return tuple(sorted(self._dropped & _OPTIONAL))

    def body(self, request: Request) -> dict[str, Any]:
        """Return the body of a request."""
        system, user = whole(request.system), whole(request.user)
        body: dict[str, Any] = {"model": self._model}
        if self.api == "chat":
            body["messages"] = [{"role": "system", "content": system}] if system else []
            body["messages"].append({"role": "user", "content": user})
        else:
            body["prompt"] = f"{system}\n\n{user}" if system else user
            if request.form == "continue":
                body["stop"] = ["\n"]
        settings = {"seed": request.seed, "temperature": request.temperature, "top_p": request.top_p}
        dropped = self._dropped
        body |= {name: value for name, value in settings.items() if name not in dropped}
        return body | {"max_completion_tokens" if "max_tokens" in dropped else "max_tokens": request.most_tokens}

    def optional(self, body: dict[str, Any]) -> set[str]:
        """Return which settings of a body can be left out or said in another way."""
        limit = {"max_tokens"} if self.api == "chat" else set()
        return set(body) & (_OPTIONAL | limit)

    def drop(self, name: str) -> None:
        """Leave a setting out from now on."""
        with self._lock:
            self._dropped |= {name}
