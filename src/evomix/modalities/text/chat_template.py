"""The form of a conversation that a chat model was trained on, with places for what is said.

A model file brings its form as a Jinja template. It is rendered once, with marks in the places of the messages; what
is said goes between the parts later and never passes through the template, so it cannot act as one.
"""

import re
from dataclasses import dataclass
from typing import Final, NoReturn

import jinja2
import jinja2.sandbox

from evomix.core.errors import InputFileError

# Characters of the private use area: no template has them.
_MARKS: Final = {"system": "\ue000\ue001\ue000", "user": "\ue000\ue002\ue000"}
_FIELDS: Final = {mark: field for field, mark in _MARKS.items()}
_SPLIT: Final = re.compile("(" + "|".join(_MARKS.values()) + ")")

PLAIN: Final = _MARKS["system"] + "\n\n" + _MARKS["user"] + "\n\n"
"""The form for a model that was not trained on conversations: what it shall be, what is asked, then its turn."""


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """How system and user text become one prompt.

    Attributes:
        spoken: the form with a system text.
        silent: the form without one.
    """

    spoken: str
    silent: str

    def parts(self, *, system: str, user: str) -> list[tuple[str, bool]]:
        """Return the prompt's pieces in order, each with whether it is the form's (True) or what is said (False)."""
        said = {"system": system, "user": user}
        pieces = _SPLIT.split(self.spoken if system else self.silent)
        placed = ((said[_FIELDS[piece]], False) if piece in _FIELDS else (piece, True) for piece in pieces)
        return [(piece, of_form) for piece, of_form in placed if piece]


def plain_template() -> ChatTemplate:
    """Return the form for models that know no conversations."""
    return ChatTemplate(PLAIN, PLAIN.partition("\n\n")[2])


def read_template(source: str, *, first_token: str, last_token: str) -> ChatTemplate:
    """Return the form that a Jinja template describes; a model that knows no system text reads it before the user's.

    Args:
        source: the template, from a model file; it runs in Jinja's sandbox.
        first_token: what the model begins a text with; may be empty.
        last_token: what it ends a text with; may be empty.

    Raises:
        InputFileError: the template is broken, or loses or changes what is said.
    """
    system, user = _MARKS["system"], _MARKS["user"]
    tokens = {"bos_token": first_token, "eos_token": last_token}
    silent = _rendered(source, [("user", user)], tokens)
    try:
        spoken = _rendered(source, [("system", system), ("user", user)], tokens)
    except InputFileError:  # the template refuses a system text
        spoken = _rendered(source, [("user", f"{system}\n\n{user}")], tokens)
    if spoken.count(system) == 0:  # or drops it
        spoken = _rendered(source, [("user", f"{system}\n\n{user}")], tokens)
    if (spoken.count(system), spoken.count(user), silent.count(user)) != (1, 1, 1):
        raise InputFileError("the chat template of a model must carry each message once, as it is; use another model")
    return ChatTemplate(spoken, silent)


def _rendered(source: str, messages: list[tuple[str, str]], tokens: dict[str, str]) -> str:
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # a prompt is no web page
        extensions=["jinja2.ext.loopcontrols"],
    )
    environment.globals["raise_exception"] = _refuse
    said = [{"role": role, "content": content} for role, content in messages]
    try:
        return environment.from_string(source).render(messages=said, add_generation_prompt=True, **tokens)
    except Exception as error:  # whatever a foreign template does
        raise InputFileError(
            "the chat template of a model cannot be rendered for one system and one user message; use another model"
        ) from error


def _refuse(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)
