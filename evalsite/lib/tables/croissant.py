"""Metadata of tables as JSON-LD: Croissant 1.0 of MLCommons, by which catalogues and loaders know a data set.

Reference: https://docs.mlcommons.org/croissant/docs/croissant-spec.html
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath
from typing import Any

FILE = "croissant.json"
"""What the file of the metadata is called."""
VERSION = "http://mlcommons.org/croissant/1.0"
_TYPES = {".csv": "text/csv", ".tsv": "text/tab-separated-values", ".parquet": "application/x-parquet"}
# The context of the specification, with the two terms that are not in the vocabulary as they stand.
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{
        term: f"cr:{term}"
        for term in (
            *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet"),
            *("format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
            *("references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField"),
            "transform",
        )
    },
}


class Holds(StrEnum):
    """What the cells of a column are, as Croissant names it."""

    TEXT = "sc:Text"
    WHOLE = "sc:Integer"
    NUMBER = "sc:Float"
    TIME = "sc:DateTime"
    BOOLEAN = "sc:Boolean"


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, what its cells are, and what they mean."""

    name: str
    holds: Holds
    meaning: str


@dataclass(frozen=True)
class DescribedFile:
    """A table in a file: its path below the folder of the metadata, its columns, and the SHA-256 of its bytes.

    `sha256` is "" where the file is made when it is downloaded.
    """

    path: str
    columns: Sequence[Column]
    sha256: str = ""


@dataclass(frozen=True)
class About:
    """What a data set is; what is not known stays empty, and is left out.

    `license`: an address or an identifier of SPDX; `url`: the page of the data set; `languages`: codes of ISO 639-1;
    `published`: a date as ISO 8601.
    """

    name: str
    description: str
    license: str = ""
    url: str = ""
    creators: Sequence[str] = ()
    languages: Sequence[str] = ()
    published: str = ""
    version: str = "1.0.0"
    keywords: Sequence[str] = field(default=("human evaluation", "evalsite"))


def describe(about: About, files: Sequence[DescribedFile]) -> dict[str, Any]:
    """Return the metadata of tables, one a file, as JSON-LD; the set is live if a file has no SHA-256."""
    known = {
        "license": about.license,
        "url": about.url,
        "creator": [{"@type": "Person", "name": name} for name in about.creators],
        "inLanguage": list(about.languages),
        "datePublished": about.published,
        "version": about.version,
        "keywords": list(about.keywords),
    }
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": VERSION,
        "name": about.name,
        "description": about.description,
        **{name: value for name, value in known.items() if value},
        "isLiveDataset": not all(file.sha256 for file in files),
        "distribution": [_file_object(file) for file in files],
        "recordSet": [_record_set(file) for file in files],
    }


def _file_object(file: DescribedFile) -> dict[str, Any]:
    path = PurePath(file.path)
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": path.name,
        "contentUrl": file.path,
        "encodingFormat": _TYPES[path.suffix],
        **({"sha256": file.sha256} if file.sha256 else {}),
    }


def _record_set(file: DescribedFile) -> dict[str, Any]:
    name = PurePath(file.path).stem
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column.name}",
                "name": column.name,
                "description": column.meaning,
                "dataType": column.holds.value,
                "source": {"fileObject": {"@id": file.path}, "extract": {"column": column.name}},
            }
            for column in file.columns
        ],
    }
