"""From the settings of a run to the language model that it asks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from evomix.core.errors import SpecError
from evomix.experiment.spec import RunSpec
from evomix.modalities.text.journal import Bill
from evomix.modalities.text.language_model import Form, LanguageModel

_FORMS: Final[Mapping[str, Form]] = {"chat": "chat", "completion": "continue"}


def generator_of(spec: RunSpec) -> str:
    """Return who proposes texts: as asked for; else an endpoint where there is an address, else a local model.

    A model named by a folder is run by transformers, any other by the local runtime.
    """
    if spec.generator not in (None, "auto"):
        return str(spec.generator)
    if spec.base_url is not None:
        return "endpoint"
    return "transformers" if spec.model is not None and Path(spec.model).is_dir() else "local"


def make_model(spec: RunSpec, *, already: Bill = (0, 0, 0.0)) -> LanguageModel | None:
    """Return the model of a run; ``None`` where public texts are recombined and no model is asked.

    Args:
        spec: what the user asked for.
        already: what an interrupted run that is gone on with has spent; it counts against the caps.

    Raises:
        SpecError: the settings name no model that there is.
        InputFileError: the model's file is not one.
        EnvironmentFailure: what runs it, or the model itself, is not installed.
    """
    name, model = generator_of(spec), spec.model
    form = _FORMS.get(spec.api or "")
    if name == "recombine":
        return None
    if name == "endpoint":
        return _endpoint(spec, already)
    if name == "local":
        from evomix.modalities.text.local_model import LocalModel  # noqa: PLC0415  (each needs a runtime of its own)

        return LocalModel(None if model is None else Path(model), form=form)
    assert model is not None
    if name == "transformers":
        from evomix.modalities.text.transformers_model import TransformersModel  # noqa: PLC0415

        return TransformersModel(Path(model), form=form)
    from evomix.modalities.text.vllm_model import VLLMModel  # noqa: PLC0415

    return VLLMModel(Path(model), form=form)


def _endpoint(spec: RunSpec, already: Bill) -> LanguageModel:
    from evomix.modalities.text.openai_endpoint import OpenAIEndpoint  # noqa: PLC0415
    from evomix.modalities.text.spending import Spent  # noqa: PLC0415

    if spec.model is None:
        raise SpecError("a model behind an address has a name: give it (--model)")
    given: dict[str, Any] = {
        "api": spec.api,
        "concurrency": spec.concurrency,
        "timeout_s": spec.timeout_s,
        "price_in": spec.price_in,
        "price_out": spec.price_out,
        "most_cost": spec.most_cost,
        "most_tokens_total": spec.most_tokens,
    }
    read, written, cost = already
    return OpenAIEndpoint(
        model=spec.model,
        base_url=spec.base_url,
        already_spent=Spent(prompt_tokens=read, tokens=written, cost=cost),
        **{name: value for name, value in given.items() if value is not None},
    )
