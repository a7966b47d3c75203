import sys

import numpy as np
import pytest

from evomix.core.errors import EnvironmentFailure, SpecError
from evomix.modalities.text.folder_encoder import FolderEncoder
from evomix.modalities.text.function_encoder import FunctionEncoder
from evomix.modalities.text.named_encoder import make_encoder
from evomix.modalities.text.tfidf import TfidfEncoder

PUBLIC = [f"The {thing} was {word} today" for thing in ("phone", "film", "soup") for word in ("great", "awful", "fine")]
STRANGE = [
    "",
    "   ",
    "👍",
    "مرحبا بالعالم",
    "wordsthatnobodyknows",
    "<script>",
    "phone\x00\nfilm",
    "the phone " * 3_000,
]


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_encoder.py").write_text(
        "import numpy as np\n"
        "def sizes(texts): return [[len(t), t.count('e'), 0.0] for t in texts]\n"
        "def far(texts): return sizes(texts)\n"
        "far.local = False\n"
        "def short(texts): return [1.0]\n"
        "number = 3\n"
    )
    yield "own_encoder"
    sys.modules.pop("own_encoder", None)


def encoders(module):
    return [TfidfEncoder.fit(PUBLIC), FunctionEncoder.load(f"{module}:sizes")]


def test_any_text_has_a_unit_vector_that_depends_on_it_alone(module):
    for encoder in encoders(module):
        some = [*PUBLIC, *STRANGE]
        together = encoder.encode(some)
        alone = np.concatenate([encoder.encode([text]) for text in some])
        assert together.dtype == np.float32
        np.testing.assert_array_equal(together, alone)
        assert np.linalg.norm(together, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert TfidfEncoder.fit(PUBLIC).encode([]).shape == TfidfEncoder.fit(PUBLIC).encode(["a"])[:0].shape


def test_tfidf_knows_words_in_common_and_its_own_name():
    encoder = make_encoder("tfidf", PUBLIC)
    phone, again, film = encoder.encode(["phone", "a phone!", "film"])
    assert phone @ again == pytest.approx(1.0)
    assert phone @ film < 0.5
    assert encoder.name.startswith("tfidf-")
    assert encoder.local


def test_tfidf_learns_from_rare_words_where_there_are_no_others():
    vectors = TfidfEncoder.fit(["red apple", "green pear", "blue plum"]).encode(["apple", "pear"])
    assert vectors[0] @ vectors[1] < 0.5


@pytest.mark.parametrize("public", [["the", "and"], ["one"], ["apple"], [""]])
def test_tfidf_needs_words(public):
    with pytest.raises(SpecError, match=f"texts={len(public)}"):
        TfidfEncoder.fit(public)


@pytest.mark.parametrize("public", [None, []])
def test_tfidf_needs_public_texts(public):
    with pytest.raises(SpecError, match="public texts to learn --embedder=tfidf"):
        make_encoder("tfidf", public)


def test_a_function_may_say_that_it_is_not_local(module):
    assert make_encoder(f"{module}:sizes").local
    assert not make_encoder(f"{module}:far").local


@pytest.mark.parametrize("name", ["none", "", "no_such_module:f", "{module}:missing", "{module}:number", "a:b:c"])
def test_what_is_no_encoder_is_refused(module, name):
    with pytest.raises(SpecError, match="--embedder"):
        make_encoder(name.format(module=module))


def test_vectors_that_do_not_fit_are_refused(module):
    with pytest.raises(SpecError, match=r"shape \(1, k\)"):
        make_encoder(f"{module}:short").encode(["a", "b"])


def test_a_model_folder_without_what_runs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(EnvironmentFailure, match="pip install torch transformers"):
        make_encoder(str(tmp_path))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of other libraries
def test_a_model_folder(tmp_path):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    words = {word: k for k, word in enumerate(["[PAD]", "[UNK]", "phone", "film", "good", "bad"])}
    rule = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    rule.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    with pytest.raises(SpecError, match="a model and its tokenizer"):
        FolderEncoder.load(tmp_path)
    transformers.PreTrainedTokenizerFast(tokenizer_object=rule, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(
        tmp_path
    )
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=6, max_position_embeddings=32, **sizes)
    transformers.BertModel(config).save_pretrained(tmp_path)
    encoder = make_encoder(str(tmp_path))
    some = ["phone good", "film bad phone", *STRANGE]
    together = encoder.encode(some)
    np.testing.assert_array_equal(together, np.concatenate([encoder.encode([text]) for text in some]))
    assert np.linalg.norm(together, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert len(np.unique(together[:2], axis=0)) == 2
    assert encoder.name.startswith(f"{tmp_path.name} files=")
