"""The figures of every kind of study, and of runs: drawn when they are asked for, once, the same in any order."""

import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Barrier

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import reverse
from matplotlib.figure import Figure
from matplotlib.text import Text

from analysis.data.dialogues.loading import load_dialogues
from analysis.data.ratings.loading import load_ratings
from analysis.methods.settings import AnalysisSettings, custom_settings, from_protocol
from analysis.methods.study.direct_assessment import draw_significance
from analysis.methods.study.report import report
from analysis.methods.study.study import run_study
from analysis.models import AnalysisRun
from analysis.results import figures
from analysis.results.agreement_figures import draw_criteria, draw_heatmaps, draw_scatter
from analysis.results.curves import LABEL_LENGTH, short_label
from analysis.results.exports import draw_figure, dump_json, write_figures, write_report
from analysis.results.figures import fonts_for, save
from analysis.results.reading import read_result
from analysis.results.result import Comparison
from analysis.results.sections import COLUMN_IN, DARK, LIGHT
from campaigns.design.worker_test import NO_TEST
from tests.analysis.conftest import ratings_csv
from tests.results import figures_of

ODD = ("z/.. <i>y</i>", "流" * 95)
ODD_SYSTEMS = ("<b>x</b>", "=cmd()", r"$\frac{$", "مترجم", "a" * 150)
BEGINNINGS = {".svg": b"<?xml", ".pdf": b"%PDF", ".png": b"\x89PNG"}

Study = tuple[bytes, AnalysisSettings]
STUDIES: dict[str, Callable[[], Study]] = {
    "chats": lambda: (ratings_csv(), from_protocol("mrc-adequacy")),
    "odd names": lambda: (ratings_csv(systems=ODD_SYSTEMS, criteria=ODD), custom_settings(ODD)),
    "nobody counts": lambda: (ratings_csv(), replace(from_protocol("mrc-adequacy"), alpha=0.0001)),
    "no worker test": lambda: (ratings_csv(), replace(from_protocol("mrc-adequacy"), preset=NO_TEST)),
    "one system": lambda: (ratings_csv(systems=("alder",)), from_protocol("mrc-adequacy")),
}
CHATS = """\
worker,assignment,position,system,topic,opinion,worker_inputs,worker_words,worker_chars
w-careful,a0,1,alder,=Food,like,10,40,200
w-careful,a0,3,birch,the sea,dislike,12,60,300
w-careless,a4,1,alder,海,like,3,9,30
"""


def report_of(study: str, folder: Path) -> dict:
    """Return the report of a study, as its file has it."""
    content, settings = STUDIES[study]()
    (folder / "ratings.csv").write_bytes(content)
    (folder / "dialogues.csv").write_text(CHATS, encoding="utf-8")
    loaded = load_ratings(folder / "ratings.csv", criteria=settings.criterion_names)
    dialogues = load_dialogues(folder / "dialogues.csv") if study == "chats" else None
    return json.loads(dump_json(report(run_study(loaded, settings, dialogues=dialogues))))


def files_in(folder: Path) -> dict[str, bytes]:
    return {f"figures/{path.name}": path.read_bytes() for path in (folder / "figures").iterdir()}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[dict, dict[str, bytes]]]:
    """Return the report of a study and all its figures, drawn once."""

    @cache
    def draw(study: str) -> tuple[dict, dict[str, bytes]]:
        folder = tmp_path_factory.mktemp("study")
        found = report_of(study, folder)
        write_figures(folder, read_result(found))
        return found, files_in(folder)

    return draw


def smallest_text(drawing: Figure) -> float:
    """Return the size in points of the smallest text that is printed, on 8.4 cm or, of a wide figure, on 17 cm."""
    drawing.draw_without_rendering()
    sizes = [text.get_fontsize() for text in drawing.findobj(Text) if text.get_text().strip() and text.get_visible()]
    width = drawing.get_size_inches()[0]
    return min(sizes, default=10) * (8.4 if width <= COLUMN_IN + 0.2 else 17) / 2.54 / width


def twenty(c: int) -> str:
    return f"an-ordinary-transformer-with-a-long-name-{c}"


@pytest.mark.parametrize("n", [10, 20])  # up to ten names have a smaller figure
def test_texts_of_every_figure_can_be_read_in_print(n: int, tmp_path: Path) -> None:
    systems = tuple(map(twenty, range(n)))
    criteria = ("adequacy", "fluency", "a very long criterion of mine")
    (tmp_path / "ratings.csv").write_bytes(ratings_csv(systems, criteria))
    loaded = load_ratings(tmp_path / "ratings.csv", criteria=criteria)
    found = report(run_study(loaded, custom_settings(criteria)))
    z = [0.1 * k for k in range(n)]
    p = [[None if i == j else 0.05 for j in range(n)] for i in range(n)]
    with fonts_for("".join(systems + criteria)):
        drawings = {figure.name: figure.draw(LIGHT) for figure in figures_of(found)}
        drawings["scatter"] = draw_scatter(systems, z, z[::-1], LIGHT)
        drawings["heatmaps"] = draw_heatmaps(systems, p, p, LIGHT)
        drawings["panels"] = draw_criteria(dict.fromkeys(criteria, (z, z, 1.0)), LIGHT)
        assert len(drawings) > 8
        assert {name: size for name, each in drawings.items() if (size := smallest_text(each)) < 5.9} == {}


@pytest.mark.parametrize("n", [2, 20])  # cells are largest, and smallest
def test_names_beside_heatmaps_are_within_the_figure(n: int, tmp_path: Path) -> None:
    names = [twenty(c) for c in range(n)]
    p = [[None if i == j else 0.05 for j in range(n)] for i in range(n)]
    comparison = Comparison("overall", names, p, p, p, p)
    with fonts_for("".join(names)):
        for drawing in (draw_heatmaps(names, p, p, LIGHT), draw_significance(comparison, LIGHT)):
            save(drawing, tmp_path / "heatmaps.svg")
            bounds = drawing.bbox.padded(1.0)
            for axes in drawing.axes:
                texts = [axes.title, *axes.get_xticklabels(), *axes.get_yticklabels()]
                for text in (each for each in texts if each.get_text()):
                    box = text.get_window_extent()
                    assert bounds.contains(box.x0, box.y0) and bounds.contains(box.x1, box.y1), text.get_text()


def test_long_names_keep_what_tells_them_apart() -> None:
    names = [short_label(twenty(c)) for c in range(20)]
    assert len(set(names)) == 20 and max(map(len, names)) == LABEL_LENGTH


@pytest.mark.parametrize("study", STUDIES)
def test_every_figure_of_every_study_is_drawn_in_every_format(study: str, drawn) -> None:
    found, files = drawn(study)
    assert len(files) == 3 * len(figures_of(found)) > 0
    for name, content in files.items():
        assert content.startswith(BEGINNINGS[Path(name).suffix])
        assert len(Path(name).name.encode()) < 200


def test_a_file_that_is_drawn_alone_has_the_same_bytes(tmp_path: Path, drawn) -> None:
    found, together = drawn("chats")
    write_report(tmp_path / "alone", read_result(found))
    for name in ("significance-overall.png", "topic-words.pdf", "boxes.pdf", "workers.svg", "words-per-chat.svg"):
        assert draw_figure(tmp_path / "alone", f"figures/{name}")
        assert files_in(tmp_path / "alone")[f"figures/{name}"] == together[f"figures/{name}"], name


@pytest.mark.parametrize("name", ["workers", "topic-words", "words-per-chat"])
def test_a_figure_of_dark_pages_has_their_colours(name: str, tmp_path: Path, drawn) -> None:
    write_report(tmp_path, read_result(drawn("chats")[0]))
    for suffix, own, other in ((".svg", LIGHT, DARK), ("-dark.svg", DARK, LIGHT)):
        assert draw_figure(tmp_path, f"figures/{name}{suffix}")
        text = files_in(tmp_path)[f"figures/{name}{suffix}"].decode()
        assert own.paper in text and own.accent in text
        assert other.paper not in text and other.accent not in text


# --- Of a run


@pytest.fixture
def folder(done: AnalysisRun) -> Path:
    return Path(django_settings.MEDIA_ROOT) / done.folder


@pytest.fixture
def draw(done: AnalysisRun, owner_client: Client) -> Callable[[str], int]:
    """Ask for a figure of the run; return the status of the answer."""

    def ask(name: str) -> int:
        response = owner_client.get(reverse("analysis:run_file", args=[done.pk, name]))
        if response.streaming:
            response.getvalue()  # reads the file to its end, and closes it
        return response.status_code

    return ask


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every file that is drawn from now on."""
    names: list[Path] = []
    save = figures.save

    def count(figure, path: Path) -> None:
        names.append(path)
        save(figure, path)

    monkeypatch.setattr(figures, "save", count)
    return names


def test_a_figure_is_drawn_when_it_is_asked_for_and_kept(folder: Path, draw, saved: list[Path]) -> None:
    assert not (folder / "figures").exists()
    assert [draw("figures/boxes.pdf") for _ in range(3)] == [200] * 3
    assert len(saved) == 1
    assert [path.name for path in (folder / "figures").iterdir()] == ["boxes.pdf"]


def test_the_page_of_downloads_lists_figures_before_and_after(
    done: AnalysisRun, owner_client: Client, draw, folder: Path
) -> None:
    def size_of(name: str) -> str:
        text = owner_client.get(reverse("analysis:downloads", args=[done.pk])).text
        url = reverse("analysis:run_file", args=[done.pk, name])
        return text[text.index(url) :].split("</a>")[1].split("</span>")[0]

    assert "KB" not in size_of("figures/boxes.png")
    draw("figures/boxes.png")
    assert "KB" in size_of("figures/boxes.png")
    shutil.rmtree(folder)
    assert "figures/" not in owner_client.get(reverse("analysis:downloads", args=[done.pk])).text


def test_a_figure_of_a_run_that_was_made_before_stays_as_it_is(folder: Path, draw, saved: list[Path]) -> None:
    (folder / "figures").mkdir()
    (folder / "figures/boxes.svg").write_text("drawn then")
    assert draw("figures/boxes.svg") == 200
    assert (folder / "figures/boxes.svg").read_text() == "drawn then"
    assert saved == []


@pytest.mark.parametrize("name", ["figures/no-such.svg", "figures/boxes-dark.pdf", "figures/boxes", "boxes.svg"])
def test_what_is_no_figure_is_not_drawn(folder: Path, draw, name: str) -> None:
    assert draw(name) == 404
    assert not (folder / "figures").exists()


def test_the_files_of_a_run_that_is_gone_do_not_come_back(folder: Path, draw) -> None:
    shutil.rmtree(folder)
    assert draw("figures/boxes.svg") == 404
    assert not folder.exists()


def test_a_drawing_that_fails_leaves_nothing_and_is_tried_again(folder: Path, draw, monkeypatch) -> None:
    def fail(figure, path: Path) -> None:
        path.write_text("half")
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(figures, "save", fail)
        with pytest.raises(RuntimeError):
            draw("figures/boxes.svg")
        assert files_in(folder) == {}
    assert draw("figures/boxes.svg") == 200


@pytest.fixture
def at_once() -> Iterator[Callable]:
    """Call a function several times in threads that begin at the same moment; return the results."""
    with ThreadPoolExecutor(4) as threads:

        def call(function, *each):
            barrier = Barrier(len(each))

            def begin(argument):
                barrier.wait(20)
                return function(argument)

            return list(threads.map(begin, each))

        yield call


def test_threads_that_ask_at_once_make_one_file(folder: Path, saved: list[Path], at_once) -> None:
    wanted = ["figures/boxes.svg", "figures/boxes.svg", "figures/workers.svg", "figures/workers.svg"]
    assert at_once(lambda name: draw_figure(folder, name), *wanted) == [True] * 4
    assert len(saved) == 2
    together = {name: content for name, content in files_in(folder).items() if content}
    assert sorted(together) == sorted(set(wanted))
    shutil.rmtree(folder / "figures")
    assert all(draw_figure(folder, name) for name in together)
    assert files_in(folder) == together


def test_processes_that_draw_at_once_leave_one_whole_file(folder: Path, draw, monkeypatch) -> None:
    save = figures.save

    def draw_twice(figure, path: Path) -> None:
        save(figure, folder / "figures/boxes.svg")  # another process is a moment faster
        save(figure, path)

    monkeypatch.setattr(figures, "save", draw_twice)
    assert draw("figures/boxes.svg") == 200
    assert list(files_in(folder)) == ["figures/boxes.svg"]
