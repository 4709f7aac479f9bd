"""Systems by groups: beta wins in news and not in chats, in every kind of responses that has groups."""

import csv
import json

import numpy as np
import pytest
from django.core.management import CommandError

from analysis.methods import ResponsesFile, get_method
from analysis.methods.by_groups import MOST_GROUPS, find_grouping
from analysis.methods.settings import from_json, from_protocol
from analysis.results.stored import as_result, document_of
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.table import text_column

N_WORKERS, N_SOURCES = 9, 16
DEPENDS = "Differences of systems depend on domain (p "
SAID = ["beta is better than alpha in news, not in chats."]
PROTOCOLS = (
    *("likert", "esa", "mqm", "da-translation", "ssa", "rank-me", "post-edit", "fact-count", "option-selection"),
    *("ranking", "best-worst", "preference"),
)
"""One of each response method."""
BETA = ("beta", "news", "true")
SSA = ("sensible", 2), ("specific", 3)


def attributes(worker, source):
    return {
        "domain": ("news", "chats")[source % 2],
        "expertise": "expert" if worker < 4 else "crowd",
        "words": str(10 + 5 * source),
        "only": "same",
        "remark": f"{worker} {source}",
    }


def answers_in(protocol, worker, source, levels):
    """Yield what a worker answers of the outputs of a source, whose levels are 1 to 5, as files of the protocol do."""
    about, names = {"source": f"s{source}", "worker": f"w{worker}"}, ("alpha", "beta")
    first, second = levels
    if protocol == "preference":
        winner = "tie" if first == second else "a" if first > second else "b"
        yield about | {"system_a": "alpha", "system_b": "beta", "winner": winner}
        return
    if protocol == "best-worst":
        shown = {f"system_{k}": name for k, name in enumerate(("alpha", "beta", "gamma"), start=1)}
        best = (worker + source // 2) % 2 if first == second else int(second > first)
        yield about | shown | {"best": names[best], "worst": "gamma"}
        return
    for name, level in zip(names, map(int, levels), strict=True):
        of = about | {"system": name}
        rater = {"seg_id": source, "rater": f"w{worker}"}
        severity = ("Major", "Major", "Minor", "Minor", "No-error")[level - 1]
        texts = {"source": "Text", "target": "Text", "category": severity, "severity": severity}
        edited = " ".join(["other"] * (5 - level) + ["word"] * (5 + level))
        yield from {
            "mqm": [{"system": name, "doc": f"d{source // 2}"} | rater | texts],
            "esa": [{"system": name} | rater | {"score": 20 * level}],
            "da-translation": [of | {"score": 20 * level}],
            "likert": [of | {"score": level}],
            "ssa": [of | {"criterion": asked, "score": int(level > least)} for asked, least in SSA],
            "rank-me": [of | {"value": 50 * level, "reference": 100}],
            "post-edit": [of | {"output": " ".join(["word"] * 10), "edited": edited}],
            "fact-count": [of | {"present": 5, "correct": level, "missing": 1}],
            "option-selection": [of | {"answer": "yes" if level > 2 else "no"}],
            "ranking": [of | {"rank": 1 + sum(other > level for other in levels)}],
        }[protocol]


def rows_of(protocol):
    """Yield one answer each, as files of the protocol have it."""
    rng = np.random.default_rng(7)
    for worker, source in np.ndindex(N_WORKERS, N_SOURCES):
        better = 0.0, 1.5 * (source % 2 == 0)
        levels = [np.clip(round(2.5 + rng.normal(0, 0.6) + more), 1, 5) for more in better]
        for answer in answers_in(protocol, worker, source, levels):
            yield answer | attributes(worker, source)


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
    out, _ = analyse(path, *untested(protocol), "--groups", *groups, "--format", "json")
    return json.loads(out)["groups"]


def untested(protocol):
    return ["--protocol", protocol, *([] if protocol == "option-selection" else ["--worker-test", "none"])]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_where_systems_differ_in_one_group_alone_it_is_said(analyse, file_of, protocol, tmp_path, monkeypatch):
    path = file_of(protocol)
    domain, expertise, words = printed(analyse, path, protocol, "domain", "expertise", "words")
    assert domain["groups"] == ["chats", "news"]
    assert domain["said"][0].startswith(DEPENDS)
    assert domain["said"][1] == SAID[0] and (domain["said"][2:] == [] or protocol == "best-worst")
    assert domain["p"] < domain["p_holm"] < 0.01
    pair = domain["pairs"][0]
    chats, news = pair["groups"]
    assert pair["systems"] == ["beta", "alpha"]
    assert chats["p_holm"] > 0.05 > news["p_holm"]
    assert chats["interval"][0] < 0 < chats["interval"][1]
    is_better = news["difference"] < 0 if protocol in ("mqm", "post-edit") else news["difference"] > 0
    assert is_better
    assert expertise["said"][0].startswith("No sign that differences of systems depend on expertise (p ")
    assert words["is_cut"] and words["groups"] == ["10 to 25", "30 to 45", "50 to 65", "70 to 85"]
    beta = next(row for row in domain["systems"] if row["system"] == "beta")
    assert [each["group"] for each in beta["scores"]] == ["chats", "news"]
    assert all(each["interval"][0] < each["score"] < each["interval"][1] for each in beta["scores"])
    if protocol != "likert":  # figures of others are drawn, too, but not written as SVG, PDF and PNG
        monkeypatch.setattr("analysis.results.figures.save", lambda drawing, path: path.touch())
    out, _ = analyse(path, *untested(protocol), "--groups", "domain", out=tmp_path / "out")
    assert SAID[0] in out
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
    ("protocol", "column", "said"),
    [
        ("likert", "domian", "no column “domian” of groups. Its columns are “source”?.*“domain”"),
        ("likert", "worker", "“worker” says the worker of a row"),
        ("likert", "score", "“score” says the score of a row"),
        ("preference", "winner", "“winner” says the winner of a row"),
        ("best-worst", "best", "“best” says the best of a row"),
    ],
)
def test_columns_that_are_not_there_or_are_no_groups_are_refused(analyse, file_of, protocol, column, said):
    with pytest.raises(CommandError, match=said.replace("“source”?.*", ".*")):
        analyse(file_of(protocol), "--groups", column, protocol=protocol)


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


def test_of_votes_it_is_the_share_that_a_system_won(analyse, tmp_path):
    """A tie counts half; votes that both are bad, of degraded outputs and without a group count nowhere."""
    rng, rows = np.random.default_rng(3), []
    for worker, source in np.ndindex(8, 12):
        left, right = rng.permutation(["A", "B", "C"])[:2]
        winner = rng.choice(["a", "b", "tie", "both bad"])
        kind = "degraded" if source == 11 else ""
        domain = ("news", "chats", "news", "")[source % 4]
        rows.append((f"w{worker}", f"s{source}", left, right, winner, kind, "a" if kind else "", domain))
    path, options = tmp_path / "votes.csv", tmp_path / "own.json"
    header = "worker,source,system_a,system_b,winner,kind,degraded,domain"
    path.write_text("\n".join([header, *map(",".join, rows)]))
    options.write_text(json.dumps({"protocol": "preference", "options": {"both_bad": "leave out"}}))
    [found] = printed(analyse, path, str(options), "domain")
    won = {}
    for *_, left, right, winner, kind, _, domain in rows:
        if winner != "both bad" and not kind and domain:
            share = {"a": 1.0, "b": 0.0, "tie": 0.5}[winner]
            won.setdefault((left, domain), []).append(share)
            won.setdefault((right, domain), []).append(1 - share)
    scores = {(row["system"], each["group"]): each for row in found["systems"] for each in row["scores"]}
    assert {cell: (each["n"], each["score"]) for cell, each in scores.items()} == {
        cell: (len(values), pytest.approx(np.mean(values))) for cell, values in won.items()
    }
    n_without = sum(row[4] != "both bad" and not row[5] and not row[7] for row in rows)
    assert f"Answers without a value of domain, which are left out: {n_without}." in found["said"]
    assert found["clusters"] == ["worker", "source"]


def test_without_known_good_options_there_are_no_scores_to_compare(file_of):
    rows = [row | {"answer": f"{row['answer']}, perhaps"} for row in rows_of("option-selection")]
    settings, method = from_json({"protocol": "option-selection", "groups": ["domain"]}), get_method("choice")
    report = document_of(
        method.analyse(method.read(ResponsesFile(file_of("option-selection", rows)), settings), settings)
    )
    assert "groups" not in report and "not compared by groups" in report["notes"][0]


def test_of_several_criteria_the_mean_over_those_that_are_known_is_compared(file_of):
    """The rates of good answers on two criteria, of a third it is not known which are."""
    rows = [
        row | {"criterion": name, "answer": row["answer"] if name != "open" else "blue"}
        for row in rows_of("option-selection")
        for name in ("fluent", "open", "true")
    ]
    settings, method = from_json({"protocol": "option-selection", "groups": ["domain"]}), get_method("choice")
    report = document_of(
        method.analyse(method.read(ResponsesFile(file_of("option-selection", rows)), settings), settings)
    )
    [found] = report["groups"]
    beta = [row["answer"] == "yes" for row in rows if (row["system"], row["domain"], row["criterion"]) == BETA]
    [news] = [each for each in found["systems"][0]["scores"] if each["group"] == "news"]
    assert (news["score"], news["n"]) == (pytest.approx(np.mean(beta)), 2 * len(beta))


def test_groups_are_a_list_of_different_columns():
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
    report = document_of(method.analyse(method.read(ResponsesFile(file_of("likert")), settings), settings))
    report = json.loads(json.dumps(report, allow_nan=False))
    section, by_domain = (each for each in method.sections(as_result(report)) if each.page == "groups")
    assert section.finding.endswith("All answers that count have the same only: same.")
    assert [table.name for table in section.tables] == ["group-tests"]
    assert [table.name for table in by_domain.tables] == ["groups-domain", "group-pairs-domain"]
    assert by_domain.title == "By domain" and [figure.name for figure in by_domain.figures] == ["groups-domain"]
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
