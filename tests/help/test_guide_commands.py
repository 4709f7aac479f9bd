"""Every command in a guide runs: on the example, or on a small file of the kind that the guide speaks of."""

import json
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from itertools import product
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command, get_commands, load_command_class
from django.core.management.base import BaseCommand
from markdown_it import MarkdownIt

from annotation.models import Assignment
from evalsite import command
from evalsite.accounts.models import User
from evalsite.help.guides import GROUPS
from tests.annotation.cast import build, launch
from tests.campaigns.cast import make_campaign
from tests.test_agreement_command import EXAMPLE

ROOT = Path(settings.BASE_DIR)
TOOLS = ROOT / "tests" / "data" / "tools"
GUIDES = [ROOT / "README.md", *(ROOT / "docs" / f"{guide.name}.md" for group in GROUPS for guide in group.guides)]
FENCED = ("console", "sh")
# Commands of other programs, with what tests them instead.
OF_OTHERS = {
    "pip": "installs from the network; tests/test_wheel.py installs the wheel",
    "pipx": "the same",
    "uvx": "tests/test_wheel.py",
    "docker": "needs Docker; tests/test_compose.py reads the files of the image and the services",
    "useradd": "changes the machine",
    "install": "changes the machine",
    "systemctl": "changes the machine",
    "optimum-cli": "needs PyTorch and the network",
}
# Commands whose options are read only, with what runs them.
ONLY_READ = {
    "demo": "tests/analysis/test_demo.py",
    "crowd_simulator": "tests/simulators/test_command.py",
    "check_installation": "tests/desk/test_check.py",
    "createsuperuser": "Django's own; asks questions",
    "backup": "tests/desk/test_backups.py",
    "reset_second_factor": "tests/accounts/test_second_factor.py",
    "models": "tests/test_models_command.py; it needs models",
}
ON_FILES = ("analyse", "agreement", "metrics", "plan")


def lines_of(document: Path) -> Iterator[str]:
    """Yield the commands of a document; what follows `$ ` in a block with output."""
    for token in MarkdownIt("commonmark").parse(document.read_text()):
        if token.type == "fence" and token.info in FENCED:
            lines = token.content.replace("\\\n", " ").splitlines()
            prompted = [line[2:] for line in lines if line.startswith("$ ")]
            yield from prompted or [line for line in lines if line.strip()]


COMMANDS = sorted({(path.name, line) for path in GUIDES for line in lines_of(path)})


def arguments_of(line: str) -> list[str]:
    program, *arguments = shlex.split(line)
    assert program == "evalsite", line
    name = command._NAMES.get(arguments[0], arguments[0])
    return [name, *arguments[1:]]


def is_on_files(line: str) -> bool:
    return line.startswith("evalsite ") and arguments_of(line)[0] in ON_FILES


def table(header: str, rows: Iterator[tuple[object, ...]] | list[tuple[object, ...]], mark: str = ",") -> str:
    return "\n".join([header.replace(",", mark), *(mark.join(map(str, row)) for row in rows)])


def small_files() -> dict[str, str]:
    """Return files of the names that guides use, each of three workers, systems and sources."""
    everything = list(product(("ann", "bo", "cy"), range(1, 6), ("model-a", "model-b", "model-c")))
    good = {"model-a": 0, "model-b": 1, "model-c": 2}

    def score(worker: str, source: int, system: str) -> int:
        return 20 + 25 * good[system] + 3 * source + len(worker)

    def level(worker: str, source: int, system: str) -> int:
        return 1 + good[system] + (source + len(worker)) % 3

    levels = [(worker, system, source, level(worker, source, system)) for worker, source, system in everything]
    files = {
        "mine.csv": table("worker,engine,qid,score", levels),
        "monday.csv": table("worker,system,source,score", levels[:20]),
        "tuesday.csv": table("worker,system,source,score", levels[20:]),
        "votes.csv": table(
            "worker,source,system_a,system_b,winner",
            [
                (worker, source, "old", "new", "ab"[source % 3 > 0])
                for worker, source in product(["ann", "bo"], range(9))
            ],
        ),
        "mqm.tsv": table(
            "system,doc,doc_id,seg_id,rater,source,target,category,severity",
            [
                (system, "d", 1, source, worker, "Ein Haus.", "A <v>mouse</v>.", "Accuracy", "Major")
                if source > 1 + good[system]
                else (system, "d", 1, source, worker, "Ein Haus.", "A house.", "No-error", "No-error")
                for worker, source, system in everything
            ],
            "\t",
        ),
        "scores.csv": table(
            "system,doc,seg_id,rater,score",
            [(system, "d", source, worker, score(worker, source, system)) for worker, source, system in everything],
        ),
        "human.csv": table("system,source,score", [(c, b, score(a, b, c)) for a, b, c in everything if a == "ann"]),
        "dialogues.csv": table(
            "worker,assignment,position,system,topic,opinion,worker_inputs,worker_words,worker_chars",
            [
                (w, f"{w}1", place, s, "tea", "like", 10, 40, 200)
                for w in ("ann", "bo")
                for place, s in enumerate("AB", 1)
            ],
        ),
        "assignments.csv": table("worker,assignment,work_seconds", [("ann", "ann1", 360), ("bo", "bo1", 720)]),
    }
    files["metrics.csv"] = table(
        "metric,system,source,score", [("BLEU", c, b, score("", b, c)) for _, b, c in everything[:15]]
    )
    return files


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples and small files, as a reader has who follows a guide."""
    folder = tmp_path_factory.mktemp("guide")
    (folder / "examples").symlink_to(ROOT / "examples")
    for name, text in small_files().items():
        (folder / name).write_text(text)
    example = EXAMPLE.read_text().splitlines(keepends=True)
    (folder / "first-run.csv").write_text("".join(example))
    (folder / "second-run.csv").write_text("".join(example))
    chats = ("robotic", "interesting", "fun", "consistent", "fluent", "repetitive", "topic")
    ratings = [
        (w, f"{w}1", place, s, kind, name, value)
        for w in ("ann", "bo")
        for place, (s, kind, value) in enumerate(
            [("A", "ordinary", 60), ("B", "ordinary", 40), ("zero", "degraded", 5)], 1
        )
        for name in chats
    ]
    (folder / "ratings.csv").write_text(table("worker,assignment,position,system,kind,criterion,score", ratings))
    project = (TOOLS / "label_studio.json").read_text().replace("question_id", "question")
    (folder / "project-3.json").write_text(project)
    shutil.copy(TOOLS / "potato.jsonl", folder / "annotated_instances.jsonl")
    items = [json.loads(line) for line in (TOOLS / "potato_items.jsonl").read_text().splitlines()]
    (folder / "items.csv").write_text(table("id,system,source", [(e["id"], e["system"], e["source"]) for e in items]))
    return folder


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Run a command as somebody types it in the folder; return what it prints."""
    monkeypatch.chdir(folder)

    def go(line: str) -> str:
        name, *arguments = arguments_of(line)
        if name == "plan":
            arguments += ["--simulations", "4"]  # a plan of 200 takes a minute
        monkeypatch.setattr(sys, "argv", ["evalsite", name, *arguments])
        command.main()
        return capsys.readouterr().out

    return go


def test_guides_have_commands_and_all_are_run_or_named() -> None:
    assert len(COMMANDS) > 30
    programs = {shlex.split(line)[0] for _, line in COMMANDS}
    assert programs - {"evalsite"} == {*OF_OTHERS}, "what is listed is used, and the other way round"
    ours = {arguments_of(line)[0] for _, line in COMMANDS if line.startswith("evalsite ")}
    assert {*ONLY_READ} <= ours
    files = [word for reason in ONLY_READ.values() for word in reason.split("; ") if word.startswith("tests/")]
    assert [name for name in files if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("line", sorted({line for _, line in COMMANDS if is_on_files(line)}))
def test_a_command_on_files_does_what_guides_say(run: Callable[[str], str], line: str) -> None:
    assert run(line).strip()


def of_site() -> list[str]:
    lines = {line for _, line in COMMANDS if line.startswith("evalsite ") and not is_on_files(line)}
    return sorted(line for line in lines if arguments_of(line)[0] not in ONLY_READ)


@pytest.mark.django_db
@pytest.mark.parametrize("line", of_site())
def test_a_command_of_the_site_does_what_the_guide_says(
    monkeypatch: pytest.MonkeyPatch, folder: Path, owner: User, line: str
) -> None:
    monkeypatch.chdir(folder)
    User.objects.create_user(email="olu@example.org", password="a long enough one")
    make_campaign(owner, "likert", name="Example: answers to questions")
    campaign = make_campaign(owner, "qg", name="Example: generated questions")
    names = json.loads((ROOT / "examples" / "qg" / "quality.json").read_text())
    build(campaign, n_systems=len(names))
    for system, name in zip(campaign.systems.filter(is_human=False), sorted({*names} - {"human"}), strict=True):
        system.name = name
        system.save()
    campaign.n_ordinary, campaign.n_degraded, campaign.n_repeat, campaign.n_reference = 3, 1, 1, 0
    campaign.save()
    launch(campaign)
    out = StringIO()
    call_command(*arguments_of(line), stdout=out, stderr=StringIO())
    assert out.getvalue().strip()
    is_simulated = Assignment.objects.filter(campaign=campaign, state=Assignment.State.FINISHED).exists()
    assert is_simulated == ("simulate" in line)


def ours_in(line: str) -> str:
    """Return our command that a line runs, by itself or by a program that starts others; "" if there is none."""
    starts = ("evalsite ", "uvx ", "docker run ", "docker compose exec ", "docker compose run ")
    return f"evalsite {line.rpartition(' evalsite ')[2].removeprefix('evalsite ')}" if line.startswith(starts) else ""


@pytest.mark.parametrize("line", sorted({ours for _, line in COMMANDS if (ours := ours_in(line))}))
def test_options_of_every_command_exist(line: str) -> None:
    name, *arguments = arguments_of(line)
    app = get_commands()[name]
    found = app if isinstance(app, BaseCommand) else load_command_class(app, name)
    found.create_parser("evalsite", name).parse_args(arguments)


def test_a_wrong_option_is_noticed() -> None:
    with pytest.raises(Exception, match="unrecognized"):
        test_options_of_every_command_exist(ours_in("docker run --rm evalsite evalsite analyse mine.csv --gone"))
