"""Responses to analyse: a file or a table, and how it is read."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from analysis.data.choices import Choices
from analysis.data.describing import Reading
from analysis.data.style import TEXT, columns_of, find_style
from analysis.methods import ResponseMethod, ResponsesFile, get_method, list_response_methods
from analysis.methods.recognition import recognise
from analysis.methods.settings import AnalysisSettings, from_json, load_settings
from analysis.results.paper.heds import of_document
from campaigns.protocols import find_protocol, list_protocols
from evalsite.lib.tables import Opening, preview
from evalsite.library.frames import Frame
from evalsite.library.publishing import Publication, long_table, new_key, write_dataset
from evalsite.library.sources import Folder, as_file

_ROWS_SHOWN = 5
Method = str | Path | Mapping[str, Any]
"""A protocol or a response method by its name, the path of a JSON file of settings, or what such a file holds."""


@dataclass(frozen=True, eq=False)
class Data:
    """Responses as they were understood: what `read` returns. Print it to check that.

    `settings`: how they are analysed, unless `analyse` is given others; `is_guessed`: it followed from the responses.
    """

    path: Path
    choices: Choices
    settings: AnalysisSettings
    is_guessed: bool
    score_columns: Sequence[str] = ()
    folder: Folder | None = None
    readings: list[Reading] = field(default_factory=list)

    @property
    def method(self) -> str:
        """The protocol by which the responses are analysed."""
        return self.settings.protocol

    def file(self, extras: Mapping[str, Any] = {}) -> ResponsesFile:
        """Return the file of responses with what else a method takes."""
        return ResponsesFile(self.path, replace(self.choices, tell=self._tell), {**extras, **self._score_columns})

    @property
    def _score_columns(self) -> dict[str, Any]:
        return {"score_columns": self.score_columns} if self.score_columns else {}

    def _tell(self, reading: Reading) -> None:
        self.readings[:] = [reading]
        if self.choices.tell:
            self.choices.tell(reading)

    @cached_property
    def responses(self) -> Any:
        """The responses as their method reads them; raise TableError with everything that is wrong."""
        return response_method(self.settings).read(self.file(), self.settings)

    @property
    def reading(self) -> Reading | None:
        """How the responses were read: their shape, the column of each thing, what was guessed; None if unknown."""
        _ = self.responses
        return self.readings[0] if self.readings else None

    def table(self, keep: Collection[str] = ()) -> Frame:
        """Return the answers, one a row, in columns by what they are, whatever shape the file has.

        `keep`: further columns of the file. Raises DomainError `bad_columns` for one that it does not have.
        """
        return Frame.of("responses", self._long_table(keep).to_pydict(), "Answers as they were understood.")

    def _long_table(self, keep: Collection[str]) -> Any:
        """Return the same as a table of Arrow."""
        kept: list[Any] = []
        settings = replace(self.settings, groups=tuple(keep))
        choices = replace(self.choices, keep=lambda called, table: kept.append(long_table(called, table)))
        response_method(settings).read(ResponsesFile(self.path, choices, self._score_columns), settings)
        return kept[-1]

    def to_hf(
        self,
        folder: str | Path,
        *,
        name: str = "",
        license: str = "",
        task: str = "",
        languages: Sequence[str] = (),
        creators: Sequence[str] = (),
        repository: str = "",
        keep: Collection[str] = (),
        datasheet: str | Path | None = None,
        key: str = "",
    ) -> Path:
        """Write the responses into a folder that `datasets.load_dataset` reads and the Hugging Face Hub shows.

        In it are the answers, one a row (`responses.parquet`), a dataset card (`README.md`) and metadata
        (`croissant.json`); files of these names are replaced. Workers are named by keyed hashes and assignments by
        numbers. Look for names in texts that workers wrote before you publish them.

        Parameters
        ----------
        folder : str or Path
            Made if it is not there. Upload it by `hf upload OWNER/NAME FOLDER --repo-type dataset`.
        name : str, optional
            The title; by default the name of the file.
        license, task : str, optional
            As the Hub calls them: `cc-by-4.0`, `translation`. Without a license the card says that it is unknown.
        languages, creators : list of str, optional
            Codes of ISO 639-1, and who made the data set.
        repository : str, optional
            Where it will be published: `owner/name`.
        keep : list of str, optional
            Further columns of the file, such as domains. Others are left out.
        datasheet : str or Path, optional
            `datasheet.json` of a replication package. What it answers is in the card; task, languages and creators
            follow from it.
        key : str, optional
            By which names are hashed; the same key gives the same hashes. By default one that nobody knows.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        DomainError
            `bad_columns` for one of `keep` that the file does not have.

        Examples
        --------
        >>> data = read([{"worker": w, "system": s, "source": d, "score": v} for w, s, d, v in SCORES])
        >>> sorted(path.name for path in data.to_hf(FOLDER, license="cc-by-4.0").iterdir())
        ['README.md', 'croissant.json', 'responses.parquet']
        """
        sheet = of_document(json.loads(Path(datasheet).read_text("utf-8"))) if datasheet else []
        about = Publication(name or self.path.stem, license, task, languages, creators, repository, sheet)
        return self.publish(folder, about, keep, key or new_key())

    def publish(self, folder: str | Path, about: Publication, keep: Collection[str], key: str) -> Path:
        """Write what `to_hf` writes; without a key workers keep their names, which must be hashes.

        Columns that say how long outputs are come along: strengths of votes follow from them.
        """
        style = find_style(preview(self.path, n_rows=0).columns)
        counted = columns_of({name: sides for name, sides in style.items() if name != TEXT})
        keep = list(dict.fromkeys([*keep, *counted]))
        sentence, scale = self.reading.sentence if self.reading else "", self.settings.scale
        how = f'"{self.method}"' + (f", scale=({scale[0]:g}, {scale[1]:g})" if scale else "")
        return write_dataset(self._long_table(keep), Path(folder), about, sentence=sentence, how=how, key=key)

    def with_method(self, method: Method | None) -> "Data":
        """Return the same responses, read for a method; unchanged for None, and for the one they were read for."""
        if method is None or method == self.method:
            return self
        settings = find_settings(method).on_scale(self.settings.scale)
        return replace(self, settings=settings, is_guessed=False, readings=[])

    def __repr__(self) -> str:
        said = self.reading
        lines = said.steps if said else [f"{self.path.name} was read."]
        how = "as they look like" if self.is_guessed else "as you said"
        return "\n".join([*lines, f"Analysed by {self.method}, {how}."])

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{escape(line)}</li>" for line in repr(self).splitlines())
        found = preview(self.path, n_rows=_ROWS_SHOWN, encoding=self.choices.encoding)
        rows = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in found.rows]
        head = "".join(f"<th>{escape(name)}</th>" for name in found.columns)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<ul>{lines}</ul><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def read(
    source: Any,
    method: Method | None = None,
    *,
    columns: Mapping[str, str] = {},
    score_columns: Sequence[str] = (),
    scale: tuple[float, float] | None = None,
    shape: str = "",
    words: Sequence[str] = (),
    missing: Sequence[str] = (),
    twice: str = "",
    by_task: Sequence[str] = (),
    task: str | None = None,
    pool: bool = False,
    items: str | Path | None = None,
    encoding: str = "",
    delimiter: str = "",
    decimal: str = "",
    sheet: str = "",
) -> Data:
    """Return responses, and how they were understood.

    Parameters
    ----------
    source : str or Path, DataFrame, Arrow table, Dataset, list of dicts, dict of columns, or a list of paths
        CSV, TSV, JSON, Excel or Parquet, also packed, of a crowd, a colleague or another tool; several paths where a
        tool wrote several files. One answer a row, or any other shape that docs/ratings.md names. With the package
        datasets also `hf://owner/name` of the Hugging Face Hub, with a split, configuration and split, or file behind.
    method : str, Path or dict, optional
        A protocol (`likert`, `mqm`, `esa` …), a response method, or settings. By default it follows from the responses.
    columns : dict, optional
        The column of each thing that is called otherwise: `{"system": "model"}`.
    score_columns : list of str, optional
        The columns of scores, one for each criterion.
    scale : (low, high), optional
        The least and the greatest score that workers could give; mapped to 0–100.
    shape, words, missing, twice, by_task, items, encoding, delimiter, decimal, sheet
        As the options of `evalsite analyse`: see docs/commands.md.
    task : str, optional
        Of a file with several tasks, such as language pairs, the one that is read; `pool` takes all as one.

    Raises
    ------
    TableError
        With everything that is wrong, where, and how to fix it.
    SeveralTasksError
        Of several tasks, none of which was chosen; `tasks` names them.

    Examples
    --------
    >>> data = read([{"worker": w, "system": s, "source": d, "score": v} for w, s, d, v in SCORES])
    >>> data.method
    'likert'
    >>> data.reading.sentence
    '3 raters judged 4 outputs of 2 systems with levels 1 to 5.'
    """
    opening = Opening(encoding, delimiter=delimiter, sheet=sheet)
    folder = Folder()
    is_several = isinstance(source, list | tuple) and source and all(isinstance(each, str | Path) for each in source)
    first, *more = [as_file(each, folder.path) for each in (source if is_several else [source])]
    choices = Choices(
        encoding=None if opening.says_nothing else opening,
        columns=dict(columns),
        items=Path(items) if items else None,
        more=tuple(more),
        shape=shape,
        words=tuple(words),
        missing=tuple(missing),
        decimal=decimal,
        twice=twice,
        by=tuple(by_task),
        task=task,
        splits_tasks=not pool,
    )
    data = open_data(first, choices, method, scale=scale, score_columns=score_columns)
    data = replace(data, folder=folder)
    _ = data.responses
    return data


def open_data(
    path: Path,
    choices: Choices,
    method: Method | None = None,
    *,
    scale: tuple[float, float] | None = None,
    score_columns: Sequence[str] = (),
) -> Data:
    """Return the responses of a file; `choices` say how it is read. Raises DomainError for a method that is none."""
    settings = recognise(path, choices) if method is None else find_settings(method)
    return Data(path, choices, settings.on_scale(scale), method is None, tuple(score_columns))


def find_settings(method: Method) -> AnalysisSettings:
    """Return the settings of a protocol, of the first protocol with a response method, or of JSON.

    Raises DomainError `unknown_protocol`, `bad_settings` or `bad_json`.
    """
    if isinstance(method, Mapping):
        return from_json(dict(method))
    name = str(method)
    if find_protocol(name) is None and name in {each.slug for each in list_response_methods()}:
        name = next(protocol.slug for protocol in list_protocols() if protocol.method == name)
    return load_settings(name)


def response_method(settings: AnalysisSettings) -> ResponseMethod[Any]:
    """Return the response method of settings."""
    return get_method(settings.method)
