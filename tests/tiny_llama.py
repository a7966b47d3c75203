"""A llama model of a few thousand random weights in a GGUF file, and the same network written out in NumPy."""

import numpy as np

WIDTH, HEADS, PAIRS, UNITS, LAYERS, EPSILON, THETA = 64, 4, 2, 96, 2, 1e-5, 10000.0
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MERGES = ["h e", "l l", "he ll", "hell o", "Ġ hello"]


def byte_characters():
    """The 256 printable stand-ins of byte-level vocabularies, in the order of the bytes."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    moved = iter(range(256, 512))
    return [chr(byte if byte in kept else next(moved)) for byte in range(256)]


def vocabulary():
    return [*CONTROL, *byte_characters(), *(merge.replace(" ", "") for merge in MERGES)]


def weights(seed=0, *, tied=True, scale=0.3):
    rng = np.random.default_rng(seed)
    side = WIDTH // HEADS

    def draw(*shape):
        return (scale * rng.normal(size=shape)).astype(np.float32)

    drawn = {"token_embd": draw(len(vocabulary()), WIDTH), "output_norm": 1 + draw(WIDTH)}
    if not tied:
        drawn["output"] = draw(len(vocabulary()), WIDTH)
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        drawn[block + "attn_norm"] = 1 + draw(WIDTH)
        drawn[block + "ffn_norm"] = 1 + draw(WIDTH)
        drawn[block + "attn_q"] = draw(WIDTH, WIDTH)
        drawn[block + "attn_k"] = draw(PAIRS * side, WIDTH)
        drawn[block + "attn_v"] = draw(PAIRS * side, WIDTH)
        drawn[block + "attn_output"] = draw(WIDTH, WIDTH)
        drawn[block + "ffn_gate"] = draw(UNITS, WIDTH)
        drawn[block + "ffn_up"] = draw(UNITS, WIDTH)
        drawn[block + "ffn_down"] = draw(WIDTH, UNITS)
    return drawn


def write(path, drawn, *, architecture="llama", template=TEMPLATE, pre="smollm", context=200, **facts):
    """Write the file; ``facts`` are further whole numbers of the architecture, dots written as two underscores."""
    import gguf

    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(LAYERS)
    writer.add_context_length(context)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(UNITS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(PAIRS)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_rope_freq_base(THETA)
    for name, value in facts.items():
        key = f"{architecture}." + name.replace("__", ".")
        (
            writer.add_string
            if isinstance(value, str)
            else writer.add_float32
            if isinstance(value, float)
            else writer.add_uint32
        )(key, value)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(vocabulary())
    writer.add_token_types([3] * len(CONTROL) + [1] * (len(vocabulary()) - len(CONTROL)))
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    if template is not None:
        writer.add_chat_template(template)
    for name, values in drawn.items():
        writer.add_tensor(name if name.endswith(".bias") else f"{name}.weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def logits(drawn, tokens, *, stretch=1.0):
    """The network in float64: (positions, vocabulary)."""
    side = WIDTH // HEADS
    x = drawn["token_embd"][tokens].astype(np.float64)
    n = len(tokens)
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        h = _norm(x, drawn[block + "attn_norm"])
        q = _rotated((h @ drawn[block + "attn_q"].T).reshape(n, HEADS, side), stretch)
        k = _rotated((h @ drawn[block + "attn_k"].T).reshape(n, PAIRS, side), stretch)
        v = (h @ drawn[block + "attn_v"].T).reshape(n, PAIRS, side)
        k, v = (np.repeat(part, HEADS // PAIRS, axis=1) for part in (k, v))
        scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(side)
        scores += np.where(np.tril(np.ones((n, n))) > 0, 0, -np.inf)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        x = x + np.einsum("hqk,khd->qhd", shares, v).reshape(n, WIDTH) @ drawn[block + "attn_output"].T
        h = _norm(x, drawn[block + "ffn_norm"])
        gate = h @ drawn[block + "ffn_gate"].T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ drawn[block + "ffn_up"].T)) @ drawn[block + "ffn_down"].T
    return _norm(x, drawn["output_norm"]) @ drawn.get("output", drawn["token_embd"]).T


def _norm(x, gain):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + EPSILON) * gain


def _rotated(x, stretch):
    """Neighbouring numbers are a pair, as GGUF stores them."""
    n, _, side = x.shape
    angles = np.arange(n)[:, None] / stretch * THETA ** (-np.arange(0, side, 2) / side)
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    even, odd = x[..., ::2], x[..., 1::2]
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)
