"""Folders of neural models: loading, batches, windows, and what is said of a folder that cannot be used."""

import json
import sys

import pytest

from analysis.metrics.computing import compute_scores
from analysis.metrics.folders import get_folder, list_folders, longest_input, what_is_missing
from analysis.metrics.kinds import Data
from analysis.metrics.kinds.bertscore import BertScore
from analysis.metrics.kinds.fed import FedDialogue, FedReply
from analysis.metrics.kinds.qascore import QAScore
from analysis.metrics.kinds.usr import UsrFact, UsrMasked
from analysis.metrics.models import Question, TokenRow, load_model, windows
from evalsite.lib.errors import DomainError
from tests.metrics.tiny_models import (
    REPLY,
    TinyModel,
    causal_lm,
    classifier,
    encoder,
    make_tokenizer,
    masked_lm,
    questions,
    write_folder,
)


def test_windows_cover_every_token_and_have_equal_lengths():
    for n in range(40):
        for room in range(1, 12):
            found = windows(n, room)
            assert {k for each in found for k in range(each.start, each.stop)} == set(range(n))
            assert {each.stop - each.start for each in found} == {min(n, room)}
    with pytest.raises(ValueError, match="room"):
        windows(3, 0)


def test_the_longest_input_is_the_least_that_is_said():
    roberta = {"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}
    assert longest_input(roberta, {}) == 512
    assert longest_input(roberta, {"model_max_length": 128}) == 128
    assert longest_input({"n_positions": 1024}, {"model_max_length": 1e30}) == 1024
    assert longest_input({}, {"model_max_length": 10**30}) is None


def test_only_folders_in_the_list_are_opened(folder, tmp_path):
    assert "there is none" in what_is_missing() and list_folders() == []
    masked_lm(folder)
    (folder / ".hidden").mkdir()
    write_folder(tmp_path / "elsewhere", TinyModel(4, 4).to_onnx("logits"), make_tokenizer())
    assert [each.name for each in list_folders()] == ["tiny-mlm"]
    assert what_is_missing() == ""
    for name in ("../elsewhere", str(tmp_path / "elsewhere"), "..", "", "tiny-mlm/", ".hidden", "tiny\x00"):
        with pytest.raises(DomainError, match=r"There is no model folder.*There are “tiny-mlm”") as error:
            get_folder(name)
        assert error.value.code == "bad_model"


def test_missing_files_and_libraries_are_named(folder, monkeypatch):
    masked_lm(folder)
    (folder / "tiny-mlm" / "tokenizer.json").unlink()
    assert "“tiny-mlm” lacks tokenizer.json" in what_is_missing()
    with pytest.raises(DomainError, match=r"tokenizer.json is missing.*optimum-cli"):
        QAScore().score(questions(), {"model": "tiny-mlm"}, print)
    for module in ("onnxruntime", "tokenizers"):
        monkeypatch.setitem(sys.modules, module, None)
    assert "ONNX Runtime and tokenizers, which are not installed" in what_is_missing()
    assert "evalsite[neural]" in QAScore().lacks(questions().data)
    with pytest.raises(DomainError, match=r"evalsite\[neural\]"):
        QAScore().load({"model": "tiny-mlm"})


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("model.onnx", b"nonsense", "model.onnx cannot be loaded"),
        ("tokenizer.json", b"{}", "tokenizer.json cannot be read"),
        ("config.json", b"[]", "config.json is not a JSON object"),
        ("config.json", b"{", "config.json is not JSON"),
        ("config.json", b"{}", "says how many tokens it reads"),
    ],
)
def test_files_that_cannot_be_read_are_named(folder, name, content, said):
    masked_lm(folder)
    (folder / "tiny-mlm" / name).write_bytes(content)
    with pytest.raises(DomainError, match=said) as error:
        QAScore().score(questions(), {"model": "tiny-mlm"}, print)
    assert "“tiny-mlm”" in str(error.value)


def test_models_that_are_not_for_a_metric_are_refused(folder):
    tokenizer = make_tokenizer()
    model = TinyModel(tokenizer.get_vocab_size(), tokenizer.get_vocab_size())
    past = ("input_ids", "attention_mask", "past_key_values.0.key")
    write_folder(folder / "past", model.to_onnx("logits", past), tokenizer)
    small = TinyModel(tokenizer.get_vocab_size(), 5)
    write_folder(folder / "small", small.to_onnx("logits"), tokenizer)
    for make in (encoder, classifier, causal_lm):
        make(folder)
    for name, said in (
        ("past", "wants the inputs “past_key_values.0.key”.*without “-with-past”"),
        ("tiny-encoder", "no output “logits”, but “last_hidden_state”.*--task fill-mask"),
        ("tiny-dr", "not a language model"),
        ("small", "The tokenizer is another model's"),
        ("tiny-gpt", "no mask token"),
    ):
        with pytest.raises(DomainError, match=said):
            QAScore().score(questions(), {"model": name}, print)
    encoder(folder, "short", max_position_embeddings=100_000)
    with pytest.raises(DomainError, match="cannot read 1 × 601 tokens"):  # its table of places ends before
        list(load_model("short").run([TokenRow([5] * 601)], "last_hidden_state"))
    with pytest.raises(DomainError, match="not a language model"):
        list(load_model("tiny-dr").log_likelihoods([Question([5, 6], [1], [7])]))


def test_what_the_data_lack_is_said(folder):
    masked_lm(folder)
    text, dialogue = Data({"passage": "Passage", "answer": "Answer"}), Data(output_format="dialogue")
    assert QAScore().lacks(text) == ""
    assert "a passage and an answer" in QAScore().lacks(Data({"source": "Source"}))
    assert "belong to dialogues" in QAScore().lacks(dialogue)
    assert "neither" in UsrMasked().lacks(text) and UsrMasked().lacks(dialogue) == ""
    assert "whole dialogues" in FedReply().lacks(dialogue) and "single replies" in FedDialogue().lacks(REPLY)
    assert "“Dialogue” have none" in BertScore().lacks(dialogue)
    assert "no text is there" in UsrFact().lacks(dialogue)
    for options, said in (({}, "choose a model"), ({"model": "tiny-mlm", "passage": "other"}, "no text “other”")):
        with pytest.raises(DomainError, match=said):
            QAScore().check(text, options)
    assert QAScore().check(text, {"model": "tiny-mlm"})["model"] == "tiny-mlm"
    with pytest.raises(DomainError, match="no model folder “no”"):
        QAScore().check(text, {"model": "no"})


def test_progress_is_reported_of_each_output_and_may_stop_the_work(folder):
    masked_lm(folder)
    texts = questions()

    def stop(done, total, title):
        if done == 2:
            raise InterruptedError(f"{done} of {total}, {title}")

    with pytest.raises(InterruptedError, match="2 of 3, QAScore"):
        compute_scores([QAScore()], texts, {"qascore": {"model": "tiny-mlm"}}, stop)


def test_batches_are_bounded_by_their_tokens(folder, settings, monkeypatch):
    masked_lm(folder)
    settings.MODEL_BATCH = 64
    model, shapes = load_model("tiny-mlm"), []
    call = model._call
    monkeypatch.setattr(model, "_call", lambda batch, output: shapes.append(len(batch)) or call(batch, output))
    rows = [TokenRow([5] * n) for n in [500] * 40 + [10] * 100]
    assert [each.shape for each in model.run(rows, "logits")] == [(len(r.ids), model._width("logits")) for r in rows]
    assert shapes == [8, 8, 8, 8, 8, 64, 36]  # of 4,096 tokens, or 64 sequences, at most


def test_special_tokens_of_the_configuration_are_known(folder):
    masked_lm(folder)
    (folder / "tiny-mlm" / "special_tokens_map.json").unlink()
    assert load_model("tiny-mlm").special("mask_token") == 4
    (folder / "tiny-mlm" / "tokenizer_config.json").write_text(
        json.dumps({"mask_token": "<unk>", "model_max_length": 9})
    )
    model = load_model("tiny-mlm")
    assert (model.special("mask_token"), model.longest) == (3, 9)
