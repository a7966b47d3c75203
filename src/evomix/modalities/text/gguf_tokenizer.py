"""The tokenizer of a GGUF file, rebuilt from its vocabulary: texts to tokens, tokens to texts.

Control tokens (turn marks, ends) are left out of the vocabulary of texts. So no text can become one, whatever it
spells: what stands in a prompt's data is plain text by construction.
"""

from typing import Any, Final

from evomix.core.errors import InputFileError
from evomix.modalities.text.ctranslate2_runtime import load
from evomix.modalities.text.gguf_file import GgufFile

_NORMAL, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = 1, 3, 4, 5, 6  # GGUF's kinds of tokens
_SPACE: Final = "▁"

# How a text is cut before byte pairs merge, by GGUF's name of it: digits one by one and then words as GPT-2 does …
_SINGLE_DIGITS: Final = frozenset({"smollm", "starcoder", "refact", "command-r"})
_GPT2: Final = frozenset({"gpt-2", "default"})
# … or as Llama 3: contractions, words with what precedes them, up to three digits, punctuation, line ends, spaces.
_LLAMA3: Final = frozenset({"llama-bpe", "llama3", "llama-v3"})
_LLAMA3_PIECES: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    r"|[^\r\n\p{L}\p{N}]?\p{L}+"
    r"|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)


def control_tokens(file: GgufFile) -> dict[str, int]:
    """Return the tokens that are no text, with their positions in the vocabulary."""
    return {token: place for token, place, kind in _tokens(file) if kind in {_CONTROL, _USER_DEFINED} and token}


def text_tokenizer(file: GgufFile) -> Any:
    """Return a ``tokenizers.Tokenizer`` of plain texts; it adds no token of its own.

    Raises:
        InputFileError: the file's tokenizer is of a kind that is not known here.
        EnvironmentFailure: the package ``tokenizers`` is not installed.
    """
    kind = file.needed("tokenizer.ggml.model")
    if kind == "gpt2":
        return _byte_level(file)
    if kind == "llama":
        return _sentencepiece(file)
    raise InputFileError(
        f"the tokenizer of a GGUF file must be gpt2 or llama: path={file.path} tokenizer={kind}; use another model"
    )


def _tokens(file: GgufFile) -> list[tuple[str, int, int]]:
    """Return each token with its position and its kind."""
    tokens = file.needed("tokenizer.ggml.tokens")
    kinds = file.fact("tokenizer.ggml.token_type", [_NORMAL] * len(tokens))
    if len(kinds) != len(tokens):
        raise InputFileError(f"a GGUF file must name the kind of each token: path={file.path}; use another model")
    return [(token, place, kind) for place, (token, kind) in enumerate(zip(tokens, kinds, strict=True))]


def _text_vocabulary(file: GgufFile) -> dict[str, int]:
    return {token: place for token, place, kind in _tokens(file) if kind not in {_CONTROL, _USER_DEFINED, _UNUSED}}


def _byte_level(file: GgufFile) -> Any:
    tokenizers = load("tokenizers")
    pre = tokenizers.pre_tokenizers
    vocabulary = _text_vocabulary(file)
    pairs = (tuple(merge.split(" ", 1)) for merge in file.needed("tokenizer.ggml.merges"))
    merges = [pair for pair in pairs if {*pair, "".join(pair)} <= vocabulary.keys()]
    cut = file.fact("tokenizer.ggml.pre", "default")
    words = pre.ByteLevel(add_prefix_space=False)
    if cut in _SINGLE_DIGITS:
        pieces = pre.Sequence([pre.Digits(individual_digits=True), words])
    elif cut in _GPT2:
        pieces = words
    elif cut in _LLAMA3:
        pattern = pre.Split(tokenizers.Regex(_LLAMA3_PIECES), "isolated")
        pieces = pre.Sequence([pattern, pre.ByteLevel(add_prefix_space=False, use_regex=False)])
    else:
        known = ", ".join(sorted(_SINGLE_DIGITS | _GPT2 | _LLAMA3))
        raise InputFileError(
            f"a GGUF file cuts texts in a way that is not known here: path={file.path} tokenizer.ggml.pre={cut}; "
            f"known: {known}"
        )
    model = tokenizers.models.BPE(vocab=vocabulary, merges=merges, ignore_merges=cut in _LLAMA3)
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = pieces
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def _sentencepiece(file: GgufFile) -> Any:
    """Merge whatever makes the likeliest piece first; what has no piece is spelled in bytes."""
    tokenizers = load("tokenizers")
    normalizers, decoders = tokenizers.normalizers, tokenizers.decoders
    vocabulary = _text_vocabulary(file)
    tokens = file.needed("tokenizer.ggml.tokens")
    scores = file.needed("tokenizer.ggml.scores")
    bytes_spelled = {token for token, _, kind in _tokens(file) if kind == _BYTE}
    merges = []
    for piece, place in vocabulary.items():
        if piece in bytes_spelled:
            continue  # a text that reads <0x0A> is no line end
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in vocabulary and right in vocabulary:
                merges.append((-scores[place], vocabulary[left], vocabulary[right], left, right))
    merges.sort()
    unknown = tokens[int(file.fact("tokenizer.ggml.unknown_token_id", 0))]
    model = tokenizers.models.BPE(
        vocab=vocabulary,
        merges=[(left, right) for *_, left, right in merges],
        unk_token=unknown if unknown in vocabulary else None,
        fuse_unk=True,
        byte_fallback=True,
    )
    tokenizer = tokenizers.Tokenizer(model)
    first = [normalizers.Prepend(_SPACE)] if file.fact("tokenizer.ggml.add_space_prefix", True) else []
    tokenizer.normalizer = normalizers.Sequence([*first, normalizers.Replace(" ", _SPACE)])
    spaces = decoders.Replace(_SPACE, " ")
    tokenizer.decoder = decoders.Sequence([spaces, decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return tokenizer
