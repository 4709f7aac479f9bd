"""Tiny real models in folders as Optimum exports them, and what they compute, with NumPy, one sequence at a time."""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from analysis.metrics.kinds import Data, Texts

SIZE = 8
CORPUS = (
    "Lisbon was founded long before 1600 by people who wrote about the river and its harbour. What is the name of the "
    "town? Hello, how are you? That makes sense! I don't understand what you're saying. Tell me more about it."
)
PASSAGE = "Lisbon was founded by the river, long before 1600, by people who wrote about it."
QUESTIONS = ("What is the name of the town?", "Who wrote about the harbour?", "How?")
ANSWERS = ("Lisbon, Portugal", "people who wrote")
DIALOGUE = "Person: Hello, how are you?\nChatbot: Fine, and you?\nPerson: Tell me more."
REPLY = Data({"fact": "Fact"}, "dialogue", "reply")


def texts_of(outputs, fields, data=None, references=None):
    """Outputs of one system, each of a source of its own."""
    n = len(outputs)
    places, data = np.arange(n), data or Data({"passage": "Passage", "answer": "Answer"})
    return Texts(
        ["one"],
        [f"q{k}" for k in range(n)],
        np.zeros(n, int),
        places,
        list(outputs),
        references or [""] * n,
        fields,
        data,
    )


def questions(passage=PASSAGE):
    fields = [{"passage": passage, "answer": ANSWERS[k % 2]} for k in range(len(QUESTIONS))]
    return texts_of(QUESTIONS, fields)


def make_tokenizer(specials=("<s>", "<pad>", "</s>", "<unk>", "<mask>")) -> Tokenizer:
    """Byte-level BPE as RoBERTa's and GPT-2's: no text is unknown, and a token has the space before its word."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=list(specials),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([CORPUS], trainer)
    if "<s>" in specials:
        ends = [(each, tokenizer.token_to_id(each)) for each in ("</s>", "<s>")]
        tokenizer.post_processor = processors.RobertaProcessing(*ends, trim_offsets=True, add_prefix_space=False)
    return tokenizer


class TinyModel:
    """Embeddings, the mean over the tokens (of a causal model: over those so far), and a linear layer."""

    def __init__(self, vocabulary: int, n_out: int, *, is_causal: bool = False, has_types: bool = False) -> None:
        rng = np.random.default_rng(vocabulary + n_out)
        self.embedding = rng.normal(0, 1, (vocabulary, SIZE)).astype(np.float32)
        self.types = rng.normal(0, 1, (2, SIZE)).astype(np.float32)
        self.places = rng.normal(0, 0.5, (600, SIZE)).astype(np.float32)
        self.out = rng.normal(0, 1, (SIZE, n_out)).astype(np.float32)
        self.is_causal, self.has_types = is_causal, has_types

    def hidden(self, ids, types=None):
        """Return the hidden state of each token, (n, SIZE): with loops, in 64 bits."""
        own = [self.embedding[token].astype(float) + self.places[k + 1] for k, token in enumerate(ids)]
        if self.has_types:
            own = [each + self.types[kind] for each, kind in zip(own, types, strict=True)]
        n = len(own)
        means = [np.mean(own[: k + 1] if self.is_causal else own, axis=0) for k in range(n)]
        return np.array([np.tanh(own[k] + 2 * means[k]) for k in range(n)])

    def log_softmax(self, ids):
        """Return ln P of the vocabulary at each place, (n, vocabulary)."""
        logits = self.hidden(ids) @ self.out
        return np.array([row - np.log(np.sum(np.exp(row))) for row in logits])

    def to_onnx(self, output: str, inputs=("input_ids", "attention_mask"), hidden: str = "") -> onnx.ModelProto:
        """Return the model: `output` is logits, last_hidden_state, or classes, whose name is logits as well."""
        constants = {"E": self.embedding, "T": self.types, "P": self.places, "W": self.out, "two": np.float32(2)}
        constants |= {"last": np.array([2]), "one": np.array(1), "middle": np.array([1])}
        node = helper.make_node
        nodes = [
            node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
            node("Unsqueeze", ["mask", "last"], ["mask3"]),
            node("CumSum", ["attention_mask", "one"], ["place"]),
            node("Gather", ["E", "input_ids"], ["token"]),
            node("Gather", ["P", "place"], ["at"]),
            node("Add", ["token", "at"], ["plain"]),
        ]
        if self.has_types:
            nodes += [node("Gather", ["T", "token_type_ids"], ["kind"]), node("Add", ["plain", "kind"], ["own"])]
        else:
            nodes += [node("Identity", ["plain"], ["own"])]
        nodes += [node("Mul", ["own", "mask3"], ["kept"])]
        if self.is_causal:
            nodes += [node("CumSum", ["kept", "one"], ["total"]), node("CumSum", ["mask3", "one"], ["n"])]
        else:
            nodes += [
                node("ReduceSum", ["kept", "middle"], ["total"], keepdims=1),
                node("ReduceSum", ["mask3", "middle"], ["n"], keepdims=1),
            ]
        nodes += [
            node("Div", ["total", "n"], ["mean"]),
            node("Mul", ["mean", "two"], ["twice"]),
            node("Add", ["own", "twice"], ["sum"]),
            node("Tanh", ["sum"], ["h"]),
        ]
        if output == "last_hidden_state":
            nodes += [node("Identity", ["h"], ["last_hidden_state"])]
            if hidden:
                nodes += [node("Identity", ["own"], [hidden])]
        elif output == "classes":
            constants["first"] = np.array(0)
            nodes += [node("Gather", ["h", "first"], ["begin"], axis=1), node("MatMul", ["begin", "W"], ["logits"])]
        else:
            nodes += [node("MatMul", ["h", "W"], ["logits"])]
        names = [name for name in ("logits" if output != "last_hidden_state" else output, hidden) if name]
        shape = ["batch", self.out.shape[1]] if output == "classes" else ["batch", "sequence", None]
        given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in inputs]
        returned = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in names]
        stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
        graph = helper.make_graph(nodes, "tiny", given, returned, stored)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def write_folder(path: Path, model: onnx.ModelProto, tokenizer: Tokenizer, **config) -> Path:
    """Write a folder as Optimum exports it; RoBERTa's positions begin after that of the padding."""
    path.mkdir(parents=True)
    (path / "model.onnx").write_bytes(model.SerializeToString())
    tokenizer.save(str(path / "tokenizer.json"))
    config = {"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1} | config
    (path / "config.json").write_text(json.dumps(config))
    (path / "special_tokens_map.json").write_text(json.dumps({"mask_token": {"content": "<mask>"}}))
    return path


def masked_lm(folder: Path, name: str = "tiny-mlm", **config) -> tuple[TinyModel, Tokenizer]:
    """Write a folder with a masked language model."""
    tokenizer = make_tokenizer()
    model = TinyModel(tokenizer.get_vocab_size(), tokenizer.get_vocab_size())
    write_folder(folder / name, model.to_onnx("logits"), tokenizer, **config)
    return model, tokenizer


def causal_lm(folder: Path, name: str = "tiny-gpt", **config) -> tuple[TinyModel, Tokenizer]:
    """Write a folder with a causal language model, which has no token for padding."""
    tokenizer = make_tokenizer(("<|endoftext|>",))
    model = TinyModel(tokenizer.get_vocab_size(), tokenizer.get_vocab_size(), is_causal=True)
    config = {"model_type": "gpt2", "n_positions": 512, "max_position_embeddings": 512, "pad_token_id": None} | config
    path = write_folder(folder / name, model.to_onnx("logits"), tokenizer, **config)
    (path / "special_tokens_map.json").write_text(json.dumps({"eos_token": "<|endoftext|>"}))
    return model, tokenizer


def classifier(folder: Path, name: str = "tiny-dr", n_classes: int = 2, **config) -> tuple[TinyModel, Tokenizer]:
    """Write a folder with a classifier of pairs of texts."""
    tokenizer = make_tokenizer()
    model = TinyModel(tokenizer.get_vocab_size(), n_classes, has_types=True)
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    write_folder(folder / name, model.to_onnx("classes", inputs), tokenizer, **config)
    return model, tokenizer


def encoder(folder: Path, name: str = "tiny-encoder", **config) -> tuple[TinyModel, Tokenizer]:
    """Write a folder with a model that returns its hidden states."""
    tokenizer = make_tokenizer()
    model = TinyModel(tokenizer.get_vocab_size(), SIZE)
    proto = model.to_onnx("last_hidden_state", hidden="hidden_states.1")
    write_folder(folder / name, proto, tokenizer, **config)
    return model, tokenizer
