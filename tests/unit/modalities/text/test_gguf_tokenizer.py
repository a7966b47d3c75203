from pathlib import Path

import pytest

import tiny_llama as tiny
from evomix.core.errors import InputFileError

pytest.importorskip("tokenizers")

from evomix.modalities.text.gguf_tokenizer import control_tokens, text_tokenizer


class File:
    """Stands where an open GGUF file is, with facts of the tokenizer only."""

    path = Path("m.gguf")

    def __init__(self, **facts):
        self.facts = {f"tokenizer.ggml.{name}": value for name, value in facts.items()}

    def fact(self, key, default=None):
        return self.facts.get(key, default)

    def needed(self, key):
        return self.facts[key]


def _byte_level(pre, more=()):
    tokens = [*tiny.vocabulary(), *more]
    kinds = [3] * len(tiny.CONTROL) + [1] * (len(tokens) - len(tiny.CONTROL))
    return File(model="gpt2", pre=pre, tokens=tokens, token_type=kinds, merges=tiny.MERGES)


def _sentencepiece(**changes):
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    pieces = ["▁", "a", "b", "c", "ab", "abc", "bc", "▁ab", "<", "0", "x", "A", ">"]
    tokens = ["<unk>", "<s>", "</s>", *bytes_, *pieces]
    # The likelier piece merges first: bc before ab.
    scores = [0.0] * 3 + [0.0] * 256 + [-1.0 if piece == "bc" else -5.0 for piece in pieces]
    kinds = [2, 3, 3] + [6] * 256 + [1] * len(pieces)
    return File(**{"model": "llama", "tokens": tokens, "scores": scores, "token_type": kinds, **changes})


@pytest.mark.parametrize(
    ("pre", "tokens"),
    [
        ("smollm", ["1", "2", "3", "4"]),
        ("gpt-2", ["12", "3", "4"]),
        ("llama-bpe", ["12", "3", "4"]),
    ],
)
def test_digits_are_cut_as_the_model_learned(pre, tokens):
    file = _byte_level(pre, more=["12"])
    file.facts["tokenizer.ggml.merges"] = [*tiny.MERGES, "1 2"]
    assert text_tokenizer(file).encode("1234").tokens == tokens


def test_three_digits_at_most_stand_together():
    file = _byte_level("llama-bpe", more=["12", "123", "34"])
    file.facts["tokenizer.ggml.merges"] = [*tiny.MERGES, "3 4", "1 2", "12 3"]
    assert text_tokenizer(file).encode("1234").tokens == ["123", "4"]


def test_likelier_pieces_merge_first():
    tokenizer = text_tokenizer(_sentencepiece())
    assert tokenizer.encode("abc").tokens == ["▁", "abc"]
    assert tokenizer.encode("cab").tokens == ["▁", "c", "ab"]


def test_a_space_in_front_is_the_models_choice():
    assert text_tokenizer(_sentencepiece(add_space_prefix=False)).encode("a").tokens == ["a"]


@pytest.mark.parametrize("text", ["abc ab", "a  b\n", "ß😀", "<0x0A>", "<s>a</s>", "<unk>"])
def test_texts_survive_sentencepiece(text):
    tokenizer = text_tokenizer(_sentencepiece())
    ids = tokenizer.encode(text).ids
    assert tokenizer.decode(ids, skip_special_tokens=False) == text
    assert not {0, 1, 2} & set(ids)


def test_a_text_that_spells_a_byte_is_no_byte():
    tokens = text_tokenizer(_sentencepiece()).encode("<0xAA>").tokens
    assert tokens == ["▁", "<", "0", "x", "A", "A", ">"]


def test_control_tokens_are_apart():
    assert control_tokens(_byte_level("smollm")) == {token: place for place, token in enumerate(tiny.CONTROL)}
    assert control_tokens(_sentencepiece()) == {"<s>": 1, "</s>": 2}


@pytest.mark.parametrize(
    ("file", "named"),
    [
        (_sentencepiece(model="bert"), "tokenizer=bert"),
        (_sentencepiece(token_type=[1, 2]), "kind of each token"),
        (_byte_level("tekken"), "tokenizer.ggml.pre=tekken"),
    ],
)
def test_other_tokenizers_are_refused(file, named):
    with pytest.raises(InputFileError, match=named):
        text_tokenizer(file)
