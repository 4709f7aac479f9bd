"""Metrics of outputs: the libraries' own published examples, printed examples of the studies, and naive versions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.metrics.kinds import Texts, list_kinds
from analysis.metrics.kinds.bleu import Bleu, Gleu
from analysis.metrics.kinds.edits import Chrf, Ter
from analysis.metrics.kinds.meteor import Meteor
from analysis.metrics.kinds.qbleu import QBleu, answerability
from analysis.metrics.kinds.rouge import RougeL, longest_common, rouge_l
from analysis.metrics.neural import NeuralKind
from analysis.metrics.tokens import tokenise
from evalsite.lib.errors import DomainError

# The two examples of the thesis's Figure 3.10: reference, answer, ROUGE-L
BOOK = "to be our representation or mental picture is the same thing", "to be a mental picture or our representation"
FILM = (
    "he gets shot by sheriff ballard when distracted while watching an episode of a reason to love",
    "wesley is distracted by watching an ankle holster and commits a reason to love",
)
# NLTK's documentation of its translation metrics
GUIDE = "It is a guide to action that ensures that the military will forever heed Party commands"
CLOSE = "It is a guide to action which ensures that the military always obeys the commands of the party"
INSURE = "It is to insure the troops forever hearing the activity guidebook that party direct"
HISTORY = "he was interested in world history because he read the book"
READ = "he read the book because he was interested in world history"
PAIRS = [(GUIDE, CLOSE), (GUIDE, INSURE), (HISTORY, READ), BOOK, FILM]


def texts_of(pairs, system=None):
    """Outputs of pairs (reference, output), by default of one system, each of a source of its own."""
    n = len(pairs)
    system = np.zeros(n, int) if system is None else np.array(system)
    names = [f"system {code}" for code in range(system.max() + 1)]
    references, outputs = ([pair[k] for pair in pairs] for k in (0, 1))
    return Texts(names, [f"q{k}" for k in range(n)], system, np.arange(n), outputs, references, [{}] * n)


def score(kind, texts, options=None):
    reported = []
    found = kind.score(texts, options or {}, lambda: reported.append(1))
    assert tuple(each.metric for each in found) == kind.metrics
    assert len(reported) == len(texts.outputs)
    return found


def test_rouge_l_of_the_printed_examples():
    (found,) = score(RougeL(), texts_of([BOOK, FILM]))
    assert found.segments.round(1).tolist() == [42.1, 45.2]
    assert found.systems is None
    assert (rouge_l([], ["a"]), rouge_l(["a"], [])) == (0, 0)


@given(*[st.lists(st.sampled_from("abc"), max_size=7)] * 2)
def test_the_longest_common_sequence_is_the_longest_of_all(first, second):
    def of(words):
        return {
            tuple(words[k] for k in each) for n in range(len(words) + 1) for each in combinations(range(len(words)), n)
        }

    assert longest_common(first, second) == max(map(len, of(first) & of(second)))


def test_bleu_is_nltks():
    from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu

    one, four = score(Bleu(), texts_of(PAIRS, [0, 0, 0, 1, 1]))
    words = [[tokenise(text) for text in pair] for pair in PAIRS]
    for found, weights in ((one, (1,)), (four, (0.25,) * 4)):
        for code, own in ((0, words[:3]), (1, words[3:])):
            references, outputs = [[pair[0]] for pair in own], [pair[1] for pair in own]
            assert found.systems[code] == pytest.approx(100 * corpus_bleu(references, outputs, weights=weights))
        smooth = SmoothingFunction().method3
        expected = [100 * sentence_bleu([a], b, weights=weights, smoothing_function=smooth) for a, b in words]
        assert found.segments == pytest.approx(expected)
    assert four.systems[0] != pytest.approx(four.segments[:3].mean(), abs=1)


def test_meteor_of_nltks_documentation():
    (found,) = score(Meteor(), texts_of([(GUIDE, CLOSE)]))
    assert (found.segments / 100).round(4) == 0.6944


def test_meteor_of_the_printed_example_and_of_texts_that_share_nothing():
    found = score(Meteor(), texts_of([BOOK, ("yes", "no"), ("", "no"), ("yes", "")]))[0]
    assert found.segments.round(1).tolist() == [59.3, 0, 0, 0]
    stems = score(Meteor(), texts_of([("cats purred", "cat purring"), ("big dog", "large dog")]))[0].segments
    assert stems[0] > 90 > stems[1]  # the same stems match, synonyms do not


def test_gleu_is_nltks_and_takes_the_lower_of_precision_and_recall():
    from nltk.translate.gleu_score import corpus_gleu

    (found,) = score(Gleu(), texts_of([(GUIDE, CLOSE), (HISTORY, READ)]))
    words = [[tokenise(text) for text in pair] for pair in ((GUIDE, CLOSE), (HISTORY, READ))]
    assert found.systems[0] == pytest.approx(100 * corpus_gleu([[a] for a, _ in words], [b for _, b in words]))
    # By hand: of 6 runs of "the the the" one is in "the cat"'s 3, so the lower of 1/6 and 1/3
    assert score(Gleu(), texts_of([("the cat", "the the the")]))[0].segments == pytest.approx(100 / 6)


def test_chrf_and_ter_of_sacrebleu():
    (chrf,) = score(Chrf(), texts_of([("abc", "abc"), ("Abc", "abd")]))
    # By hand: of 3, 2 and 1 runs "abd" has 1 (b), 0 and 0 of "Abc"; effective order 3
    assert chrf.segments == pytest.approx([100, 100 / 9])
    (ter,) = score(Ter(), texts_of([("a b c d", "a b c d"), ("a b c d", "c d a b"), ("A b c d", "a x c")]))
    assert ter.segments == pytest.approx([0, -25, -50])  # none, one shift, a replacement and a missing word
    assert ter.systems == pytest.approx([-100 * 3 / 12])


def test_q_bleu_is_that_of_the_authors_own_test():
    """Weights .7, .6, .2 and .1: 0.765, where the overlap of single words is .8."""
    pair = "Is this a good question?", "Is this a great question?"
    without_mark = [tuple(text.rstrip("?") for text in pair)]
    one, four = score(QBleu(), texts_of(without_mark))
    assert one.segments.round(1) == 76.5
    assert four.segments < one.segments
    only = score(QBleu(), texts_of(without_mark), {"answerability": "100", "name": 0, "question": 0, "content": "100"})
    assert only[0].segments == pytest.approx(50)
    with pytest.raises(DomainError, match="from 0 to 100"):
        score(QBleu(), texts_of(without_mark), {"name": "120"})


def test_answerability_is_the_formula_of_the_paper():
    """By hand. Names: Paris, of 1 and 1. Question: what colour, of 2 and 2. Content: sky, of 2 and 1. Function: is the
    of, 3 of 4 and 3 of 3; “could” is none."""
    output = ["What", "colour", "is", "the", "blue", "sky", "of", "the", "Paris"]
    reference = ["What", "colour", "is", "the", "sky", "of", "Paris"]
    weights = {"name": 0.6, "question": 0.2, "content": 0.1, "function": 0.1}
    precision, recall = 0.6 + 0.2 + 0.1 / 2 + 0.1 * 3 / 4, 1.0
    expected = 2 * precision * recall / (precision + recall)
    assert answerability(output, reference, weights) == pytest.approx(expected)
    by_class = 0.6 + 0.2 + 0.1 * (2 / 3) + 0.1 * (6 / 7)  # what an F of each class would add up to
    assert answerability(output, reference, weights) != pytest.approx(by_class)
    could = answerability(["Who", "could", "go"], ["Who", "can", "go"], weights)
    precision, recall = 0.2 + 0.1 / 2, 0.2 + 0.1
    assert could == pytest.approx(2 * precision * recall / (precision + recall))


def test_every_kind_without_a_model_scores_any_text():
    odd = [("", ""), ("。", "?"), ("什么时候？", "什么？"), ("हिन्दी में", "हिन्दी"), ("a" * 300, "b"), ("\x00 \n", "x")]
    for kind in (each for each in list_kinds() if not isinstance(each, NeuralKind)):
        for found in score(kind, texts_of([*PAIRS, *odd])):
            assert np.isfinite(found.segments).all(), found.metric
            assert found.systems is None or np.isfinite(found.systems).all(), found.metric


def test_words_of_scripts_with_combining_marks_stay_whole():
    assert tokenise("हिन्दी में, क्या?") == ["हिन्दी", "में", ",", "क्या", "?"]
    assert tokenise("cafe\u0301") == ["café"]


def test_a_library_that_is_missing_is_named(monkeypatch):
    for module, kind in (("sacrebleu.metrics", Bleu()), ("nltk.stem.porter", Meteor())):
        monkeypatch.setitem(__import__("sys").modules, module, None)
        with pytest.raises(DomainError, match=r"not installed here.*evalsite\[metrics\]") as error:
            kind.score(texts_of([BOOK]), {}, lambda: None)
        assert error.value.code == "missing_library"
