"""Metrics by neural models: tiny real models, and the same scores by hand, a sequence at a time."""

import numpy as np
import pytest

from analysis.metrics.kinds import Data
from analysis.metrics.kinds.bertscore import BertScore
from analysis.metrics.kinds.fed import FedDialogue, FedReply
from analysis.metrics.kinds.qascore import QAScore
from analysis.metrics.kinds.usr import UsrFact, UsrMasked, UsrRetrieval
from analysis.metrics.models import load_model
from evalsite.lib.errors import DomainError
from tests.metrics.tiny_models import (
    ANSWERS,
    DIALOGUE,
    PASSAGE,
    QUESTIONS,
    REPLY,
    causal_lm,
    classifier,
    encoder,
    masked_lm,
    questions,
    texts_of,
)


def score(kind, texts, **options):
    reported = []
    found = kind.score(texts, options, lambda: reported.append(1))
    assert tuple(each.metric for each in found) == kind.metrics
    assert len(reported) == len(texts.outputs)
    assert all(each.model == options["model"] for each in found)
    return found


def words_of(tokenizer, text):
    """The tokens of each word: a byte-level tokenizer divides at spaces first, and keeps them."""
    return [tokenizer.encode(" " * (k > 0) + word, add_special_tokens=False).ids for k, word in enumerate(text.split())]


def by_hand(model, tokenizer, before, text, after=()):
    """Σ ln P of the words of a text, each masked whole, in what the model reads."""
    words, mask, total = words_of(tokenizer, text), tokenizer.token_to_id("<mask>"), 0.0
    for k, word in enumerate(words):
        ids = [*before]
        for other in words[:k]:
            ids += other
        place = len(ids)
        ids += [mask] * len(word)
        for other in words[k + 1 :]:
            ids += other
        logs = model.log_softmax([*ids, *after])
        for n, token in enumerate(word):
            total += logs[place + n][token]
    return total


def plain(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False).ids


# --- QAScore


def test_qascore_is_the_sum_over_the_answers_words_as_computed_by_hand(folder):
    model, tokenizer = masked_lm(folder)
    (found,) = score(QAScore(), questions(), model="tiny-mlm")
    eos = tokenizer.token_to_id("</s>")
    expected = []
    for k, question in enumerate(QUESTIONS):
        before = [*plain(tokenizer, PASSAGE), eos, *plain(tokenizer, question), eos]
        expected.append(by_hand(model, tokenizer, before, ANSWERS[k % 2]))
    assert any(len(word) > 1 for word in words_of(tokenizer, ANSWERS[0]))  # a word of several tokens is masked whole
    assert found.segments == pytest.approx(expected, abs=1e-4)
    assert (found.segments < 0).all()
    assert (found.systems, found.n_windowed) == (None, 0)  # a system's score is the mean


@pytest.mark.parametrize("kind", [QAScore(), UsrMasked(), FedReply(), FedDialogue(), UsrRetrieval(), BertScore()])
def test_the_size_of_batches_changes_nothing(folder, settings, kind):
    for make in (masked_lm, causal_lm, classifier, encoder):
        make(folder)
    names = {"fill-mask": "tiny-mlm", "text-generation": "tiny-gpt", "text-classification": "tiny-dr"}
    if kind.slug == "qascore":
        texts = questions()
    elif kind.slug == "bertscore":
        texts = texts_of(QUESTIONS, [{}] * 3, references=["Who?", PASSAGE, PASSAGE])
    elif kind.slug == "fed-dialogue":
        texts = texts_of([DIALOGUE, DIALOGUE + "\nChatbot: No."], [{}] * 2, Data(output_format="dialogue"))
    else:
        texts = texts_of(["Well.", "That makes sense! Tell me more."], [{"dialogue": DIALOGUE}] * 2, REPLY)
    found = []
    for size in (1, 64):
        settings.MODEL_BATCH = size
        found.append(
            np.array([each.segments for each in score(kind, texts, model=names.get(kind.task, "tiny-encoder"))])
        )
    assert np.isfinite(found[0]).all()
    assert found[0] == pytest.approx(found[1], abs=1e-5)
    assert len({*found[0].ravel().round(6)}) > 1


def test_a_long_passage_is_read_in_windows_and_the_best_one_counts(folder):
    model, tokenizer = masked_lm(folder, max_position_embeddings=66)
    texts = questions(" ".join([PASSAGE] * 4))
    (found,) = score(QAScore(), texts, model="tiny-mlm")
    eos, long = tokenizer.token_to_id("</s>"), plain(tokenizer, " ".join([PASSAGE] * 4))
    last = [eos, *plain(tokenizer, QUESTIONS[0]), eos]
    room = 64 - len(last) - len(plain(tokenizer, ANSWERS[0]))
    starts = [0]
    while starts[-1] + room < len(long):
        starts.append(min(starts[-1] + room // 2, len(long) - room))
    expected = [by_hand(model, tokenizer, [*long[at : at + room], *last], ANSWERS[0]) for at in starts]
    assert len(expected) > 2
    assert found.segments[0] == pytest.approx(max(expected), abs=1e-4)
    assert found.n_windowed == 3
    assert score(QAScore(), questions("Lisbon."), model="tiny-mlm")[0].n_windowed == 0


def test_questions_without_an_answer_or_room_for_it_have_no_score(folder):
    masked_lm(folder, max_position_embeddings=66)
    fields = [
        {"passage": PASSAGE, "answer": ""},
        {"passage": "", "answer": "x"},
        {"passage": "A.", "answer": "a " * 70},
    ]
    (found,) = score(
        QAScore(), texts_of([*QUESTIONS, "Why?"], [*fields, fields[2] | {"answer": "b"}]), model="tiny-mlm"
    )
    assert np.isnan(found.segments).tolist() == [True, True, True, False]


def test_words_of_other_scripts_are_masked_as_they_are_written(folder):
    masked_lm(folder)
    model = load_model("tiny-mlm")
    for text, n_words in (("什么时候？", 5), ("  two  words ", 2), ("हिन्दी में", 2), ("", 0), ("don't", 1)):
        ids, words = model.encode_words(text)
        assert len(words) == n_words, text
        assert sorted(place for word in words for place in word) == list(range(len(ids) if n_words else 0)), text


# --- FED


def fed_by_hand(model, tokenizer, turns, follow_ups):
    end, means = tokenizer.token_to_id("<|endoftext|>"), []
    for part in follow_ups:
        logs = []
        for text in part:
            ids = [end]
            for turn in turns:
                ids += [*plain(tokenizer, turn), end]
            own, total = plain(tokenizer, text), 0.0
            found = model.log_softmax([*ids, *own])
            for n, token in enumerate(own):
                total += found[len(ids) - 1 + n][token]
            logs.append(total)
        means.append(sum(logs) / len(logs) if logs else 0)
    return means[0] - means[1]


def test_fed_is_the_likelihood_of_good_follow_ups_minus_that_of_bad_ones(folder):
    model, tokenizer = causal_lm(folder)
    turns = ["Hello, how are you?", "Fine, and you?", "Tell me more."]
    found = score(FedReply(), texts_of(["It is a town."], [{"dialogue": DIALOGUE}], REPLY), model="tiny-gpt")
    by_name = {each.metric: each.segments[0] for each in found}
    fluent = (
        ["That makes sense!", "You have a good point."],
        ["Is that real English?", "I'm so confused right now!", "That makes no sense!"],
    )
    expected = fed_by_hand(model, tokenizer, [*turns, "It is a town."], fluent)
    assert by_name["FED fluent"] == pytest.approx(expected, abs=1e-3)
    found = score(FedDialogue(), texts_of([DIALOGUE], [{}], Data(output_format="dialogue")), model="tiny-gpt")
    by_name = {each.metric: each.segments[0] for each in found}
    depth = ([], ["Stop changing the topic so much.", "Don't change the topic!"])
    assert by_name["FED depth"] == pytest.approx(fed_by_hand(model, tokenizer, turns, depth), abs=1e-3)
    assert by_name["FED depth"] > 0  # complaints are unlikely


def test_a_reply_stays_whole_in_every_window_of_a_long_dialogue(folder):
    causal_lm(folder, n_positions=64, max_position_embeddings=64)
    long = "\n".join(["Person: Tell me more about the river.", "Chatbot: People wrote about it."] * 6)
    texts = texts_of(["No.", "no " * 80], [{"dialogue": long + "\nPerson: So?"}] * 2, REPLY)
    found = score(FedReply(), texts, model="tiny-gpt")
    assert {each.n_windowed for each in found} == {1}
    assert np.isfinite(found[0].segments[0]) and np.isnan(found[0].segments[1])  # the second fits into no window


# --- USR


def test_usr_of_a_reply_and_of_every_reply_in_a_dialogue(folder):
    model, tokenizer = masked_lm(folder)
    begin, end = (tokenizer.token_to_id(each) for each in ("<s>", "</s>"))
    turns = ["Hello, how are you?", "Fine, and you?", "Tell me more."]

    def expected(history, reply):
        before = [begin, *(token for turn in history for token in (*plain(tokenizer, turn), end))]
        return by_hand(model, tokenizer, before, reply, (end,))

    (found,) = score(UsrMasked(), texts_of(["It is."], [{"dialogue": DIALOGUE}], REPLY), model="tiny-mlm")
    assert found.segments == pytest.approx([expected(turns, "It is.")], abs=1e-4)
    whole = f"{DIALOGUE}\nChatbot: It is."
    (found,) = score(
        UsrMasked(), texts_of([whole, "Person: Hello?"], [{}] * 2, Data(output_format="dialogue")), model="tiny-mlm"
    )
    mean = (expected(turns[:1], turns[1]) + expected(turns, "It is.")) / 2
    assert found.segments[0] == pytest.approx(mean, abs=1e-4)
    assert np.isnan(found.segments[1])  # the chatbot says nothing


@pytest.mark.parametrize("n_classes", [1, 2])
def test_usr_retrieval_is_the_probability_of_the_pair(folder, n_classes):
    model, tokenizer = classifier(folder, n_classes=n_classes)
    texts = texts_of(
        ["It is.", "No."], [{"dialogue": DIALOGUE, "fact": "Lisbon is a town."}, {"dialogue": DIALOGUE}], REPLY
    )
    context = "Hello, how are you?\nFine, and you?\nTell me more."

    def probability(first, second):
        pair = tokenizer.encode(first, second)
        logits = model.hidden(pair.ids, pair.type_ids)[0] @ model.out
        return 1 / (1 + np.exp(-logits[0])) if n_classes == 1 else np.exp(logits[1]) / np.exp(logits).sum()

    (found,) = score(UsrRetrieval(), texts, model="tiny-dr")
    assert found.segments == pytest.approx([probability(context, each) for each in texts.outputs], abs=1e-5)
    (found,) = score(UsrFact(), texts, model="tiny-dr")
    assert found.segments[0] == pytest.approx(probability("Lisbon is a town.", "It is."), abs=1e-5)
    assert np.isnan(found.segments[1])  # no fact


def test_a_long_dialogue_is_classified_in_windows(folder):
    model, tokenizer = classifier(folder, max_position_embeddings=42)
    turns = ["Tell me more about the river.", "People wrote about it."] * 4 + ["So?"]
    dialogue = "\n".join(f"{'Chatbot' if k % 2 else 'Person'}: {turn}" for k, turn in enumerate(turns))
    (found,) = score(
        UsrRetrieval(), texts_of(["It is.", "x " * 60], [{"dialogue": dialogue}] * 2, REPLY), model="tiny-dr"
    )
    assert found.n_windowed == 1
    ids, second = plain(tokenizer, "\n".join(turns)), plain(tokenizer, "It is.")
    begin, end = (tokenizer.token_to_id(each) for each in ("<s>", "</s>"))
    room, expected = 40 - 4 - len(second), []
    at = 0
    while True:
        window = [begin, *ids[at : at + room], end, end, *second, end]
        logits = model.hidden(window, [0] * len(window))[0] @ model.out
        expected.append(np.exp(logits[1]) / np.exp(logits).sum())
        if at + room >= len(ids):
            break
        at += room // 2
    assert found.segments[0] == pytest.approx(np.mean(expected), abs=1e-5)
    assert np.isnan(found.segments[1])


# --- BERTScore


def bertscore_by_hand(vectors, weights):
    output, reference = ([each / np.linalg.norm(each) for each in own] for own in vectors)
    precision = sum(w * max(a @ b for b in reference) for a, w in zip(output, weights[0], strict=True)) / sum(
        weights[0]
    )
    recall = sum(w * max(a @ b for b in output) for a, w in zip(reference, weights[1], strict=True)) / sum(weights[1])
    return [100 * precision, 100 * recall, 200 * precision * recall / (precision + recall)]


@pytest.mark.parametrize("idf", ["no", "yes"])
@pytest.mark.parametrize("layer", ["", "1"])
def test_bertscore_matches_the_most_similar_tokens(folder, idf, layer):
    model, tokenizer = encoder(folder)
    references = ["Who wrote about the river?", "Who wrote about the river?", "Lisbon"]
    texts = texts_of(QUESTIONS, [{}] * 3, references=references)
    found = score(BertScore(), texts, model="tiny-encoder", idf=idf, **({"layer": layer} if layer else {}))
    known = [set(plain(tokenizer, each)) for each in references]

    def embed(text):
        ids = tokenizer.encode(text).ids
        if layer:
            return [model.embedding[token].astype(float) + model.places[k + 1] for k, token in enumerate(ids)][1:-1]
        return model.hidden(ids)[1:-1]

    def weigh(text):
        return [
            np.log(4 / (1 + sum(t in each for each in known))) if idf == "yes" else 1 for t in plain(tokenizer, text)
        ]

    for k, (output, reference) in enumerate(zip(QUESTIONS, references, strict=True)):
        expected = bertscore_by_hand((embed(output), embed(reference)), (weigh(output), weigh(reference)))
        assert [each.segments[k] for each in found] == pytest.approx(expected, abs=1e-3)


def test_bertscore_of_equal_empty_and_long_texts(folder):
    encoder(folder, max_position_embeddings=34)
    long = " ".join([PASSAGE] * 3)
    texts = texts_of([PASSAGE, "", long], [{}] * 3, references=[PASSAGE, "a", long])
    found = score(BertScore(), texts, model="tiny-encoder")
    for each in found:
        assert each.segments == pytest.approx([100, 0, 100], abs=1e-4)
        assert each.n_windowed == 2
    with pytest.raises(DomainError, match="no hidden states of layer 7"):
        score(BertScore(), texts, model="tiny-encoder", layer="7")
