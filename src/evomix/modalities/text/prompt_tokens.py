"""From a request to a local model's prompt tokens, and from its tokens to a text."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from evomix.modalities.text.chat_template import ChatTemplate, plain_template
from evomix.modalities.text.ctranslate2_runtime import load
from evomix.modalities.text.language_model import Form, Request

_TOKENIZER: Final = "tokenizer.json"
_FORM: Final = "prompt.json"


@dataclass(frozen=True, slots=True)
class PromptForm:
    """What a model expects around a text.

    Attributes:
        template: the form of a conversation.
        control: tokens that are no text, and their positions.
        first: position of the token that begins every prompt; None where there is none.
        ends: positions of the tokens that end an answer.
        most_tokens: prompt and answer together at most.
        source: digest of the file that the model came from.
    """

    template: ChatTemplate
    control: dict[str, int]
    first: int | None
    ends: tuple[int, ...]
    most_tokens: int
    source: str


class PromptTokens:
    """Prompts as positions in a model's vocabulary.

    Args:
        tokenizer: a ``tokenizers.Tokenizer`` that knows no control token.
        form: what the model expects around a text.
    """

    def __init__(self, tokenizer: Any, form: PromptForm) -> None:
        self.form = form
        self._tokenizer = tokenizer
        longest_first = sorted(form.control, key=len, reverse=True)
        self._control = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")" if longest_first else "(?!)()")

    @classmethod
    def read(cls, folder: Path) -> "PromptTokens":
        """Return what ``write`` left in a folder."""
        told = json.loads((folder / _FORM).read_text(encoding="utf-8"))
        form = PromptForm(**{**told, "template": ChatTemplate(**told["template"]), "ends": tuple(told["ends"])})
        return cls(load("tokenizers").Tokenizer.from_file(str(folder / _TOKENIZER)), form)

    def write(self, folder: Path) -> None:
        """Keep it in a folder."""
        self._tokenizer.save(str(folder / _TOKENIZER))
        (folder / _FORM).write_text(json.dumps(asdict(self.form)), encoding="utf-8")

    def encode(self, *, system: str, user: str) -> list[int]:
        """Return a prompt's tokens; control words in what is said stay plain text.

        Half characters of a broken text are read as question marks.
        """
        tokens: list[int] = []
        plain = ""
        for piece, of_form in self.form.template.parts(system=system, user=user):
            if not of_form:
                plain += piece.encode("utf-8", "replace").decode("utf-8")
                continue
            # re.split with one group: texts at even places, control words at odd ones.
            for place, part in enumerate(self._control.split(piece)):
                if place % 2 == 0:
                    plain += part or ""
                else:
                    tokens += [*self._plain(plain), self.form.control[part]]
                    plain = ""
        tokens += self._plain(plain)
        first = self.form.first
        return tokens if first is None or tokens[:1] == [first] else [first, *tokens]

    def plain(self, text: str) -> list[int]:
        """Return the tokens of a text that a model is to go on with."""
        tokens = self._plain(text.encode("utf-8", "replace").decode("utf-8"))
        return tokens if self.form.first is None else [self.form.first, *tokens]

    @cached_property
    def _line_ends(self) -> tuple[int, ...]:
        """The tokens that hold a line break, as byte-level and SentencePiece vocabularies spell it."""
        spelled = ("\u010a", "\n", "<0x0A>")
        known = self._tokenizer.get_vocab().items()
        return tuple(sorted(place for token, place in known if any(mark in token for mark in spelled)))

    def ends(self, form: Form) -> tuple[int, ...]:
        """Return the tokens that end an answer; where it is one line, those that hold a line break as well."""
        return self.form.ends + (self._line_ends if form == "continue" else ())

    @property
    def best_form(self) -> Form:
        """How a model that knows this form is asked best: not in a conversation if it knows none."""
        return "continue" if self.form.template == plain_template() else "chat"

    def room(self, request: Request, prompt: Sequence[int]) -> int:
        """Return how many tokens an answer may have; below 1 where the prompt leaves none."""
        return min(request.most_tokens, self.form.most_tokens - len(prompt))

    def of(self, request: Request) -> list[int]:
        """Return the tokens of a request's prompt, in its form."""
        if request.form == "continue":
            return self.plain(request.user)
        return self.encode(system=request.system, user=request.user)

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, without control tokens; bytes that are no character become U+FFFD."""
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=False))

    def _plain(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids) if text else []
