"""`manage.py models`, as administrators run it."""

import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.metrics.tiny_models import encoder, masked_lm


def models(*names):
    out = StringIO()
    call_command("models", *names, stdout=out)
    return out.getvalue()


def test_models_are_loaded_and_what_is_wrong_is_said(settings, tmp_path, monkeypatch):
    settings.EVALSITE_MODELS = tmp_path / "none"
    with pytest.raises(CommandError, match=rf"model folder, and there is none.*EVALSITE_MODELS is {tmp_path}"):
        models()
    settings.EVALSITE_MODELS = tmp_path
    masked_lm(tmp_path)
    encoder(tmp_path, max_position_embeddings=130)
    assert models() == (
        "tiny-encoder: reads 128 tokens, returns last_hidden_state, hidden_states.1\n"
        "tiny-mlm: reads 512 tokens, returns logits\n"
    )
    (tmp_path / "tiny-mlm" / "model.onnx").unlink()
    assert models("tiny-encoder").startswith("tiny-encoder")
    for names in ((), ("tiny-mlm",)):
        with pytest.raises(CommandError, match=r"“tiny-mlm” cannot be used: model.onnx is missing. Export"):
            models(*names)
    with pytest.raises(CommandError, match=r"no model folder “../tiny-encoder”"):
        models("../tiny-encoder")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(CommandError, match=r"ONNX Runtime, which is not installed.*evalsite\[neural\]"):
        models()
