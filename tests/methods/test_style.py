"""Votes of files with the style of outputs: which columns say it, and strengths without and with it in results."""

import csv
import json

import numpy as np
import pytest
from django.core.management import CommandError

import evalsite as ev
from analysis.data.style import find_style
from analysis.data.votes import load_votes
from analysis.methods.settings import from_protocol
from analysis.methods.strengths import Votes, estimate_strengths
from analysis.methods.style_control import adjust_for_style
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError
from tests.stats.test_style_control import N, simulate

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")
BASE = ("worker", "source", "system_a", "system_b", "winner")


def vote(*cells, **style):
    return dict(zip(BASE, cells, strict=True)) | style


def rows_of(seed=1, n_votes=3000, bias=3.0):
    """Return votes of generated workers, who like longer outputs, with the words of both outputs; best system first."""
    left, right, outcome, words, worker = simulate(np.random.default_rng(seed), n_votes, bias)
    return [
        vote(
            *(f"w{worker[k]}", f"s{k}", NAMES[left[k]], NAMES[right[k]], ["a", "b", "tie"][outcome[k]]),
            words_a=int(words[k, 0]),
            words_b=int(words[k, 1]),
        )
        for k in range(n_votes)
    ]


def written(path, rows):
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def section_of(analysis):
    return next(each for each in analysis.result.sections if each.title == "Length and style")


# --- Columns


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (["words_a", "words_b"], {"words": (("words_a",), ("words_b",))}),
        (["len_b", "len_a"], {"length": (("len_a",), ("len_b",))}),
        (["words_a", "words_c"], {}),
        (["n_tokens_left", "N Tokens Right"], {"tokens": (("n_tokens_left",), ("N Tokens Right",))}),
        (["context_a_tokens", "context_b_tokens", "sum_user_tokens"], {}),
        (["words_a", "words_b", "len_a", "len_b"], {"words": (("words_a",), ("words_b",))}),
        (
            ["bold_count_a", "bold_count_b", "sum_assistant_a_tokens", "sum_assistant_b_tokens"],
            {
                "tokens": (("sum_assistant_a_tokens",), ("sum_assistant_b_tokens",)),
                "bold": (("bold_count_a",), ("bold_count_b",)),
            },
        ),
        (
            ["conv_metadata.header_count_a.h1", "conv_metadata.header_count_a.h2", "conv_metadata.header_count_b.h1"],
            {
                "headings": (
                    ("conv_metadata.header_count_a.h1", "conv_metadata.header_count_a.h2"),
                    ("conv_metadata.header_count_b.h1",),
                )
            },
        ),
        (["words_a", "n_words_a", "words_b"], {"words": (("words_a",), ("words_b",))}),
        (["style_emoji_a", "style_emoji_b"], {"emoji": (("style_emoji_a",), ("style_emoji_b",))}),
        (["response_a", "response_b", "bold_a", "bold_b"], {"text": (("response_a",), ("response_b",))}),
        (["response_a", "response_b", "words_a", "words_b"], {"words": (("words_a",), ("words_b",))}),
    ],
)
def test_columns_of_style_are_found_by_their_names(columns, found):
    assert find_style([*BASE, *columns]) == found


def test_cells_that_are_no_counts_are_not_known(tmp_path):
    rows = [
        vote("w", f"s{k}", "x", "y", "a", words_a=a, words_b=b, list_count_a="?", list_count_b="1")
        for k, (a, b) in enumerate([("3", "4.0"), ("", "5"), ("-1", "5"), ("many", "5"), ("inf", "0")])
    ]
    style = load_votes(written(tmp_path / "votes.csv", rows)).style
    assert list(style) == ["words"], "no vote says how many lists both have"
    np.testing.assert_array_equal(style["words"], [[3, 4], *[[np.nan, 5]] * 3, [np.nan, 0]])


def test_texts_are_counted_where_nothing_else_is_known(tmp_path):
    texts = [("**One** two", "# Three\n\n- four\n- five"), ("six", "seven eight"), ("", "nine")]
    rows = [vote("w", f"s{k}", "x", "y", "a", answer_a=a, answer_b=b) for k, (a, b) in enumerate(texts)]
    style = load_votes(written(tmp_path / "votes.csv", rows)).style
    assert list(style) == ["words", "headings", "list_items", "bold"], "no code, no table"
    np.testing.assert_array_equal(style["words"], [[2, 3], [1, 2], [np.nan, 1]])
    np.testing.assert_array_equal(style["list_items"], [[0, 2], [0, 0], [np.nan, 0]])


def test_files_of_arenas_say_style_in_objects_or_as_conversations(tmp_path):
    base = {"judge": "j", "question_id": "q", "model_a": "x", "model_b": "y", "winner": "model_a"}
    said = {"sum_assistant_a_tokens": 7, "sum_assistant_b_tokens": 9, "header_count_a": {"h1": 1}, "turns": 1}
    path = tmp_path / "arena.jsonl"
    path.write_text("\n".join(json.dumps(base | {"question_id": k, "conv_metadata": said}) for k in "pq"))
    assert {name: values.tolist() for name, values in load_votes(path).style.items()} == {"tokens": [[7, 9]] * 2}

    def conversation(text):
        return [{"role": "user", "content": "Please do."}, {"role": "assistant", "content": text}]

    both = {"conversation_a": conversation("One **two**."), "conversation_b": conversation("Three.")}
    path.write_text(json.dumps(base | both))
    assert load_votes(path).style["words"].tolist() == [[2, 1]]


def test_a_column_of_style_that_cannot_be_read_is_no_reason_to_refuse_votes(tmp_path):
    base = {"worker": "w", "system_a": "x", "system_b": "y", "winner": "a"}
    lines = [
        base | {"source": k, "words_a": 3, "words_b": 4, "bold_count_a": {"x": [1]}, "bold_count_b": 1} for k in "pq"
    ]
    path = tmp_path / "votes.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert load_votes(path).style["words"].tolist() == [[3, 4]] * 2


def test_lengths_do_not_make_answers_of_one_worker_two(tmp_path):
    rows = [vote("w", "s", "x", "y", "a", words_a=k, words_b=1) for k in (1, 2)]
    with pytest.raises(TableError, match="row 2 has the same worker, source, system_a and system_b"):
        load_votes(written(tmp_path / "votes.csv", rows))


# --- Results


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_generated_votes_show_the_true_order_with_style_and_not_without(seed):
    rows = rows_of(seed)
    found = ev.analyse(rows, "preference", brief=True)
    assert found.systems["system"] != list(NAMES)
    style = found.to_json()["style"]
    ranks = {row["system"]: row["with_rank"] for row in style["systems"]}
    assert sorted(ranks, key=ranks.get) == list(NAMES)
    assert [row["system"] for row in style["systems"]] == found.systems["system"]
    assert [row["strength"] for row in style["systems"]] == pytest.approx(found.systems["score"])
    [words] = style["features"]
    assert words["feature"] == "words" and words["interval"][0] > 0 and words["p_holm"] < 0.001
    assert 2 < words["odds_of_twice"] < 4, "e^(3 · ⅓) = 2.7"
    adjusted = ev.analyse(rows, "preference", style="adjust", brief=True)
    assert adjusted.systems["system"] == list(NAMES)
    assert adjusted.systems["score"] == pytest.approx(sorted(row["with_style"] for row in style["systems"])[::-1])
    assert adjusted.to_json()["first_place"] is None
    assert adjusted.to_json()["style"] == style


def test_the_section_says_what_length_does_and_what_changes(tmp_path, analyse):
    path = written(tmp_path / "votes.csv", rows_of())
    table = analyse(path, protocol="preference", out=tmp_path / "out")[0]
    assert "odds of twice" in table and "rank (with style)" in table
    report = json.loads((tmp_path / "out/report.json").read_text())
    [section] = [each for each in report["sections"] if each["title"] == "Length and style"]
    assert section["finding"].startswith("A longer answer wins more often: with twice as many words its odds are 2.")
    assert "With style taken out alpha is first, not epsilon." in section["finding"]
    assert {"style.svg", "style.pdf"} <= {each.name for each in (tmp_path / "out/figures").iterdir()}
    assert {"style.csv", "style-features.tex"} <= {each.name for each in (tmp_path / "out/tables").iterdir()}
    ways = {each["name"] for each in report["questions"]["sensitivity"]["settings"]}
    assert "style is taken out" in ways
    again = analyse(path, protocol="preference", style="adjust")[0]
    assert "Style is taken out: strengths are of outputs of equal words." in again


def test_without_a_bias_the_order_stays():
    found = ev.analyse(rows_of(4, bias=0.0), "preference")
    style = found.to_json()["style"]
    assert all(row["rank"] == row["with_rank"] for row in style["systems"])
    for row in style["systems"]:
        narrow, wide = (high - low for low, high in (row["interval"], row["with_interval"]))
        assert 0.8 * narrow < wide < 1.8 * narrow
    section = section_of(found)
    assert section.finding.startswith("No sign that length decides votes (p ")
    assert section.finding.endswith("With style taken out the systems rank the same.")


def test_shorter_answers_may_win():
    section = section_of(ev.analyse(rows_of(bias=-3.0), "preference"))
    assert section.finding.startswith("A shorter answer wins more often: with twice as many words its odds are 0.")


def test_what_is_left_out_is_said():
    rows = rows_of(n_votes=600)
    for k, row in enumerate(rows):
        row |= {"tables_a": 2, "tables_b": 2, "bold_a": row["words_a"] * 2, "bold_b": row["words_b"] * 2}
        row |= {"code_blocks_a": 1 if k < 10 else "", "code_blocks_b": 3}
        row["words_a"] = "" if k % 10 == 0 else row["words_a"]
    found = ev.analyse(rows, "preference")
    style = found.to_json()["style"]
    assert (style["n_votes"], style["n_unknown"]) == (540, 60)
    assert list(style["left_out"]) == ["code blocks", "bold", "tables"]
    section = section_of(found)
    assert "Votes without the style of both outputs, which are left out here: 60." in section.finding
    assert "Not in the model, since known of too few votes: code blocks." in section.finding
    assert "the same in both outputs of every vote: tables." in section.finding


def test_votes_that_follow_length_have_no_strengths_with_style_and_results_say_so():
    rows = rows_of(n_votes=300)
    for row in rows:
        row["winner"] = "a" if row["words_a"] > row["words_b"] else "b"
    found = ev.analyse(rows, "preference")
    style = found.to_json()["style"]
    assert (style["systems"], style["features"]) == ([], []) and "no finite strengths" in style["refused"]
    assert style["refused"] in section_of(found).finding
    with pytest.raises(DomainError, match=r"Style cannot be taken out\. Votes follow") as caught:
        ev.analyse(rows, "preference", style="adjust")
    assert caught.value.code == "no_style"


@pytest.mark.parametrize("n", [0, 1, 2])
def test_style_of_few_votes_is_no_error(n):
    arrays = np.zeros(n, int), np.ones(n, int), np.arange(n) % 2
    votes = Votes.of(["x", "y"], *arrays, {"worker": np.arange(n)})
    found = adjust_for_style(estimate_strengths(votes), {"words": np.full((n, 2), [3.0, 4.0])})
    assert found.scores is None and found.result.refused


def test_without_columns_of_style_nothing_is_said_and_it_cannot_be_taken_out(tmp_path, analyse):
    rows = [{name: row[name] for name in BASE} for row in rows_of(n_votes=300)]
    path = written(tmp_path / "votes.csv", rows)
    assert "style" not in json.loads(analyse(path, protocol="preference", format="json")[0])
    with pytest.raises(CommandError, match="Add columns of both outputs, such as words_a and words_b"):
        analyse(path, protocol="preference", style="adjust")
    with pytest.raises(DomainError, match="“style” says nothing about ordinal"):
        ev.analyse([{"worker": "w", "system": "s", "source": "d", "score": 1}], "likert", style="adjust")
    with pytest.raises(DomainError, match="“style” must be one of: beside, adjust"):
        ev.analyse(rows, from_protocol("preference").to_json() | {"options": {"style": "none"}})


def test_two_groups_of_systems_and_one_that_never_lost():
    rows = rows_of(n_votes=600)
    for row in rows:
        if "alpha" in (row["system_a"], row["system_b"]):
            row["winner"] = "alpha"
    apart = [vote(f"w{k}", f"t{k}", "yew", "oak", "a", words_a=k + 1, words_b=3) for k in range(5)]
    style = ev.analyse(rows + apart, "preference", brief=True).to_json()["style"]
    found = {row["system"]: row for row in style["systems"]}
    assert found["alpha"]["with_rank"] == 1 and found["alpha"]["with_interval"] is None
    assert found["yew"]["with_style"] is found["yew"]["rank"] is None
    assert sum(row["with_style"] for row in style["systems"] if row["with_style"] is not None) == pytest.approx(0)
    assert len(found) == N + 2
