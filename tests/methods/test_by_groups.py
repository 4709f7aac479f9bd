"""Systems by groups: beta wins in news and not in chats, in every kind of responses that has groups."""

import csv
import json

import numpy as np
import pytest
from django.core.management import CommandError

from analysis.methods import ResponsesFile, get_method
from analysis.methods.by_groups import MOST_GROUPS, find_grouping
from analysis.methods.settings import from_json, from_protocol
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.table import text_column

N_WORKERS, N_SOURCES = 9, 16
DEPENDS = "Differences of systems depend on domain (p "
SAID = ["beta is better than alpha in news, not in chats."]
MQM = ("system", "doc", "seg_id", "rater", "source", "target", "category", "severity")


def attributes(worker, source):
    return {
        "domain": ("news", "chats")[source % 2],
        "expertise": "expert" if worker < 4 else "crowd",
        "words": str(10 + 5 * source),
        "only": "same",
        "remark": f"{worker} {source}",
    }


def rows_of(protocol):
    """Yield one answer each, as files of the protocol have it."""
    rng = np.random.default_rng(7)
    for worker, source, system in np.ndindex(N_WORKERS, N_SOURCES, 2):
        more = attributes(worker, source)
        level = np.clip(round(2.5 + rng.normal(0, 0.6) + 1.5 * system * (source % 2 == 0)), 1, 5)
        about = {"system": ("alpha", "beta")[system]}
        if protocol == "mqm":
            severity = ("No-error", "Minor", "Minor", "Major", "Major")[5 - int(level)]
            texts = {"source": "Text", "target": "Text", "category": severity, "severity": severity}
            about |= {"doc": f"d{source // 2}", "seg_id": source, "rater": f"w{worker}", **texts}
        elif protocol == "esa":
            about |= {"seg_id": source, "rater": f"w{worker}", "score": 20 * level}
        else:
            about |= {"source": f"s{source}", "worker": f"w{worker}", "score": level * (20 if "da" in protocol else 1)}
        yield about | more


@pytest.fixture
def file_of(tmp_path):
    """Write a file of responses."""

    def write(protocol, rows=None):
        rows = list(rows or rows_of(protocol))
        path = tmp_path / ("responses.tsv" if protocol == "mqm" else "responses.csv")
        with path.open("w", newline="", encoding="utf-8") as stream:
            table = csv.DictWriter(stream, list(rows[0]), delimiter="\t" if protocol == "mqm" else ",")
            table.writeheader()
            table.writerows(rows)
        return path

    return write


def printed(analyse, path, protocol, *groups):
    test = ["--worker-test", "none"] if protocol != "custom" else []
    out, _ = analyse(path, "--protocol", protocol, *test, "--groups", *groups, "--format", "json")
    return json.loads(out)["groups"]


@pytest.mark.parametrize("protocol", ["likert", "esa", "mqm", "da-translation"])
def test_where_systems_differ_in_one_group_alone_it_is_said(analyse, file_of, protocol, tmp_path):
    path = file_of(protocol)
    domain, expertise, words = printed(analyse, path, protocol, "domain", "expertise", "words")
    assert domain["groups"] == ["chats", "news"]
    assert domain["said"][0].startswith(DEPENDS)
    assert domain["said"][1:] == SAID
    assert domain["p"] < domain["p_holm"] < 0.01
    [pair] = domain["pairs"]
    chats, news = pair["groups"]
    assert pair["systems"] == ["beta", "alpha"]
    assert chats["p_holm"] > 0.05 > news["p_holm"]
    assert chats["interval"][0] < 0 < chats["interval"][1]
    is_better = news["difference"] < 0 if protocol == "mqm" else news["difference"] > 0
    assert is_better
    assert expertise["said"][0].startswith("No sign that differences of systems depend on expertise (p ")
    assert words["is_cut"] and words["groups"] == ["10 to 25", "30 to 45", "50 to 65", "70 to 85"]
    beta = next(row for row in domain["systems"] if row["system"] == "beta")
    assert [each["group"] for each in beta["scores"]] == ["chats", "news"]
    assert all(each["interval"][0] < each["score"] < each["interval"][1] for each in beta["scores"])
    out, _ = analyse(path, "--protocol", protocol, "--groups", "domain", "--worker-test", "none", out=tmp_path / "out")
    assert " ".join([*domain["said"][1:]]) in out
    tables = tmp_path / "out" / "tables"
    for name in ("groups-domain", "group-pairs-domain", "group-tests"):
        assert (tables / f"{name}.csv").exists() and (tables / f"{name}.tex").exists(), name
    assert (tmp_path / "out" / "figures" / "groups-domain.svg").exists()


def test_results_are_the_same_as_without_groups(analyse, file_of):
    path = file_of("likert")
    plain = json.loads(analyse(path, protocol="likert", format="json")[0])
    with_groups = json.loads(analyse(path, "--groups", "domain", protocol="likert", format="json")[0])
    assert {name: value for name, value in with_groups.items() if name != "groups"} == plain


def test_the_option_repeats_and_a_protocols_file_has_the_same(analyse, file_of, tmp_path):
    path, settings = file_of("esa"), tmp_path / "own.json"
    twice = json.loads(
        analyse(path, *["--protocol", "esa", "--groups", "domain", "--groups", "words", "--format", "json"])[0]
    )
    settings.write_text(json.dumps({"protocol": "esa", "groups": ["domain", "words"]}))
    assert json.loads(analyse(path, protocol=str(settings), format="json")[0]) == twice
    assert [each["by"] for each in twice["groups"]] == ["domain", "words"]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("domian", "no column “domian” of groups. Its columns are “source”?.*“domain”"),
        ("worker", "“worker” says the worker of a row"),
        ("score", "“score” says the score of a row"),
    ],
)
def test_columns_that_are_not_there_or_are_no_groups_are_refused(analyse, file_of, column, said):
    with pytest.raises(CommandError, match=said.replace("“source”?.*", ".*")):
        analyse(file_of("likert"), "--groups", column, protocol="likert")


def test_columns_that_cannot_be_compared_by_are_named_in_a_sentence(analyse, file_of):
    only, remark, few = printed(analyse, file_of("likert", few_experts()), "likert", "only", "remark", "expertise")
    assert only["said"] == ["All answers that count have the same only: same."]
    assert remark["said"] == [
        f"There are {N_WORKERS * N_SOURCES} different values of remark, and at most {MOST_GROUPS} groups are compared."
    ]
    assert few["groups"] == ["crowd", "expert", "student"]
    left_out, too_few = few["said"][1:]
    assert left_out == "Answers without a value of expertise, which are left out: 32."
    assert too_few.endswith("which need 3 workers and 3 sources of two systems: expertise expert.")


def test_groups_in_which_nothing_varies_or_hardly_anybody_answers_cannot_be_tested(analyse, file_of):
    same = [row | {"score": 3} for row in rows_of("likert")]
    [domain] = printed(analyse, file_of("likert", same), "likert", "domain")
    assert "cannot be tested" in domain["said"][0] and domain["p"] is None
    assert [each["score"] for each in domain["systems"][0]["scores"]] == [3, 3]
    two = [row for row in rows_of("likert") if row["worker"] in ("w0", "w8")]
    [expertise] = printed(analyse, file_of("likert", two), "likert", "expertise")
    assert "too few workers or sources" in expertise["said"][0]


def few_experts():
    for row in rows_of("likert"):
        of = {"w0": "expert", "w1": "student", "w2": "student", "w3": "student", "w4": ""}
        yield row | {"expertise": of.get(row["worker"], "crowd")}


def test_no_answer_with_a_value_and_one_system_are_no_errors(analyse, file_of):
    rows = [row | {"domain": ""} for row in rows_of("esa") if row["system"] == "beta"]
    domain, expertise = printed(analyse, file_of("esa", rows), "esa", "domain", "expertise")
    assert domain["said"] == ["No answer that counts has a value of domain."]
    assert expertise["said"] == ["There is one system, and so no difference that could depend on expertise."]
    assert len(expertise["systems"][0]["scores"]) == 2


def test_methods_without_groups_say_what_has_them(analyse, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("worker,system_a,system_b,vote,domain\nw1,A,B,a,news\nw2,A,B,b,chats\n")
    with pytest.raises(CommandError, match="Comparisons of several outputs and other answers are not yet"):
        analyse(path, "--groups", "domain", protocol="preference")
    with pytest.raises(DomainError, match="must be a list of columns"):
        from_json({"protocol": "esa", "groups": "domain"})
    with pytest.raises(DomainError, match="none of which is there twice"):
        from_json({"protocol": "esa", "groups": ["domain", "domain"]})


def test_answers_that_stand_twice_are_the_same_ones_with_and_without_groups(file_of):
    """The same worker, source and system again, in another domain: still twice; an exact copy counts once."""
    rows = list(rows_of("likert"))
    settings = from_json({"protocol": "likert", "groups": ["domain"]})

    def read(*more):
        return get_method("ordinal").read(ResponsesFile(file_of("likert", [*rows, *more])), settings)

    assert read(rows[0]).n == len(rows)
    with pytest.raises(DomainError, match="another answer"):
        read(rows[0] | {"domain": "poetry"})
    assert read(rows[0] | {"worker": "new", "domain": "poetry"}).attributes["domain"].labels.count("poetry") == 1


def test_a_column_of_groups_is_no_criterion_in_a_wide_file(analyse, tmp_path):
    """Without names of criteria known here, columns of numbers beside a worker are scores, but not those of groups."""
    rng = np.random.default_rng(1)
    lines = [
        f"w{worker},s{source},{system},{rng.integers(1, 6)},{rng.integers(1, 6)},{source % 4}"
        for worker, source, system in np.ndindex(6, 8, 2)
    ]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(["worker,source,system,fluency,meaning,level_of_text", *lines]))
    found = json.loads(analyse(path, "--groups", "level_of_text", protocol="likert", format="json")[0])
    assert list(found["criteria"]) == ["fluency", "meaning"]
    assert found["groups"][0]["groups"] == ["0", "1", "2", "3"]


def test_groups_of_several_files_and_pooled_tasks(analyse, file_of, tmp_path):
    rows = list(rows_of("esa"))
    first, second = file_of("esa", rows[: len(rows) // 2]), tmp_path / "second.csv"
    with second.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows[len(rows) // 2 :])
    out, _ = analyse(first, second, "--groups", "domain", protocol="esa", format="json")
    assert json.loads(out)["groups"] == printed(analyse, file_of("esa", rows), "esa", "domain")


def test_the_report_has_one_page_of_groups_with_its_figures(file_of):
    settings = from_json({"protocol": "likert", "groups": ["domain", "only"]})
    method = get_method("ordinal")
    report = method.analyse(method.read(ResponsesFile(file_of("likert")), settings), settings)
    report = json.loads(json.dumps(report, allow_nan=False))
    [section] = [each for each in method.own_pages(report) if each.slug == "groups"]
    assert section.finding.endswith("All answers that count have the same only: same.")
    assert [table.name for table in section.tables] == ["group-tests", "groups-domain", "group-pairs-domain"]
    assert "groups" not in from_protocol("likert").to_json()


@pytest.mark.parametrize(
    ("cells", "labels", "code"),
    [
        (["b", " a", "b", ""], ["a", "b"], [1, 0, 1, -1]),
        (["10", "9", "9.0", ""], ["9", "10"], [1, 0, 0, -1]),
        (["1", "1", "1", "1", "2", "3", "4", "5"], ["1", "2 to 3", "4 to 5"], [0, 0, 0, 0, 1, 1, 2, 2]),
        (["1", "2", "3", "4", "many"], ["1", "2", "3", "4", "many"], [0, 1, 2, 3, 4]),
        (["inf", "1"], ["1", "inf"], [1, 0]),
        (["", ""], [], [-1, -1]),
    ],
    ids=["text", "few numbers", "ties", "mixed", "infinite", "empty"],
)
def test_columns_become_groups(cells, labels, code):
    found = find_grouping(text_column(np.arange(len(cells)), cells))
    assert (found.labels, found.code.tolist()) == (labels, code)
