"""A site: its campaigns and analyses, through its REST API."""

import math
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self
from uuid import uuid4

import httpx

from analysis.results.paper.heds import Section
from analysis.results.paper.questions import Question
from campaigns.contracts.columns import is_described
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import preview
from evalsite.library.data import Data, read
from evalsite.library.publishing import Publication
from evalsite.library.sources import Folder, as_file

Json = dict[str, Any]
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 10.0
_CONFLICT, _TOO_MANY, _GONE_FOR_A_MOMENT = 409, 429, frozenset({502, 503, 504})


class ApiError(Exception):
    """What the server refused, or a job that failed.

    `status` is that of HTTP (0 for a job), `code` is stable and for programs, `fields` has messages by field, `rows`
    say what is wrong with a file.
    """

    def __init__(self, status: int, code: str, detail: str, fields: Json | None = None, rows: Any = ()) -> None:
        super().__init__(f"{detail} ({code})")
        self.status: int = status
        self.code: str = code
        self.detail: str = detail
        self.fields: dict[str, list[str]] = fields or {}
        self.rows: list[Json] = list(rows)


class Site:
    """A site, and the token to use it with.

    What the server refuses is an ApiError. `get`, `post`, `patch`, `put`, `delete` and `pages` take any address that
    docs/api.md names; the rest is what scripts do most.

        with Site("https://eval.example.org", token) as site:
            campaign = site.create("esa", outputs=frame)
            campaign.launch()
            print(campaign.open_link())
            ...
            print(analyse(campaign.responses()).findings)

    It waits and tries again where the server is asked too often, or does not answer and a second try does no harm: for
    `patience_s` seconds. For jobs it waits `longest_wait_s`, then raises TimeoutError. Every POST has an
    `Idempotency-Key` of its own, so that it is done once.
    """

    def __init__(
        self,
        site: str,
        token: str,
        *,
        timeout_s: float = 60.0,
        patience_s: float = 300.0,
        longest_wait_s: float = 3600.0,
    ) -> None:
        self._http = httpx.Client(
            base_url=f"{site.rstrip('/')}/api/v1/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout_s,
        )
        self._patience_s = patience_s
        self.longest_wait_s = longest_wait_s

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    # --- Any operation

    def get(self, address: str, **query: Any) -> Any:
        """Return what is at an address, relative to `/api/v1/`."""
        return _content(self._send("GET", address, params=query or None))

    def post(self, address: str, data: Json | None = None, *, file: Path | None = None, has_key: bool = True) -> Any:
        """Send JSON, or a file with fields. `has_key=False`: for the few operations that take no key."""
        headers = {"Idempotency-Key": str(uuid4())} if has_key else {}
        body: Json = {"data": data} if file else {"json": data or {}}
        return _content(self._send("POST", address, headers=headers, file=file, **body))

    def patch(self, address: str, **changes: Any) -> Any:
        """Change the fields that are sent."""
        return _content(self._send("PATCH", address, json=changes))

    def put(self, address: str, data: Json | None = None, *, file: Path | None = None) -> Any:
        """Put JSON, or a file, in the place of what is there."""
        return _content(self._send("PUT", address, file=file, json=None if file else data or {}))

    def delete(self, address: str) -> Any:
        """Delete what is at an address."""
        return _content(self._send("DELETE", address))

    def pages(self, address: str, **query: Any) -> Iterator[Json]:
        """Yield the rows of a list, page by page."""
        page = self.get(address, **query)
        while True:
            yield from page["results"]
            if page["next"] is None:
                return
            page = self.get(page["next"])

    def download(self, address: str, to: str | Path, **query: Any) -> Path:
        """Write a file as it comes, whatever its size; a part of it is never left under its name."""
        to = Path(to)
        part = to.with_name(f"{to.name}.part")
        response = self._send("GET", address, params=query or None, is_streamed=True)
        try:
            with part.open("wb") as file:
                for chunk in response.iter_bytes():
                    file.write(chunk)
        finally:
            response.close()
        return part.replace(to)

    def wait(self, job: Json) -> Json:
        """Return a job once it has finished; raise ApiError if it fails."""
        for pause_s in _pauses(self.longest_wait_s):
            job = self.get(f"jobs/{job['id']}/")
            if job["is_finished"]:
                break
            time.sleep(pause_s)
        if job["status"] == "failed":
            raise ApiError(0, job["error_code"], job["error_message"])
        return job

    def _send(
        self, method: str, address: str, *, file: Path | None = None, is_streamed: bool = False, **options: Any
    ) -> httpx.Response:
        """Return the answer; raise ApiError for a refusal, httpx.TransportError if none comes."""
        is_safe = method in ("GET", "PUT", "DELETE") or "Idempotency-Key" in (options.get("headers") or {})
        until = time.monotonic() + self._patience_s
        for pause_s in _pauses():
            with ExitStack() as opened:
                if file:
                    options["files"] = {"file": opened.enter_context(file.open("rb"))}
                try:
                    request = self._http.build_request(method, address, **options)
                    response = self._http.send(request, stream=is_streamed)
                except httpx.TransportError:
                    if not is_safe or time.monotonic() + pause_s > until:
                        raise
                    time.sleep(pause_s)
                    continue
            if response.is_success:
                return response
            response.read()
            pause_s = max(pause_s, _retry_after_s(response))
            may_repeat = response.status_code == _TOO_MANY or (is_safe and _is_passing(response))
            if not may_repeat or time.monotonic() + pause_s > until:
                raise _error(response)
            time.sleep(pause_s)
        raise AssertionError  # pauses have no end

    # --- What is there

    def campaigns(self) -> "Iterator[Campaign]":
        """Yield the campaigns, newest first."""
        return (Campaign(self, row["public_id"]) for row in self.pages("campaigns/"))

    def campaign(self, public_id: str) -> "Campaign":
        """Return a campaign."""
        return Campaign(self, public_id)

    def create(self, protocol: str, name: str = "", *, outputs: Any = None, roles: Json | None = None) -> "Campaign":
        """Make a draft of a protocol, one of `get("protocols/")`; with outputs, as `upload` takes them."""
        campaign = Campaign(self, self.post("campaigns/", {"protocol": protocol, "name": name})["public_id"])
        if outputs is not None:
            campaign.upload(outputs, roles=roles)
        return campaign

    def run(self, run_id: str) -> "Run":
        """Return an analysis."""
        return Run(self, run_id)

    def upload_ratings(self, ratings: Any, title: str = "") -> Json:
        """Upload a file or table of ratings, and return what its columns are taken for."""
        with TemporaryDirectory() as folder:
            return self.post("ratings-files/", {"title": title}, file=as_file(ratings, Path(folder), "ratings"))

    def analyse(self, ratings_file: Json, **how: Any) -> "Run":
        """Analyse an uploaded file by `protocol="…"` or `settings={…}`, and wait for it."""
        return Run(self, self.post(f"ratings-files/{ratings_file['id']}/runs/", how)["id"]).wait()


class Campaign:
    """A campaign, from its draft to its results."""

    def __init__(self, site: Site, public_id: str) -> None:
        self.site: Site = site
        self.public_id: str = public_id

    def at(self, part: str = "") -> str:
        """Return the address of a part of it."""
        return f"campaigns/{self.public_id}/{part}"

    def get(self, part: str = "", **query: Any) -> Any:
        """Return the campaign, or a part: `get("settings/")`."""
        return self.site.get(self.at(part), **query)

    def post(self, part: str, data: Json | None = None, *, has_key: bool = True) -> Any:
        """Send JSON to a part."""
        return self.site.post(self.at(part), data, has_key=has_key)

    def pages(self, part: str, **query: Any) -> Iterator[Json]:
        """Yield the rows of a list: `pages("sources/")`."""
        return self.site.pages(self.at(part), **query)

    def change(self, part: str, **fields: Any) -> Json:
        """Change fields of "settings", "instructions", "design", "screen" or "chat-rules"."""
        return self.site.patch(self.at(f"{part}/"), **fields)

    # --- Setting up

    def upload(self, outputs: Any, *, roles: Json | None = None, mode: str = "replace") -> Json:
        """Upload and import outputs of systems: a file, or a table as `read` takes it.

        `roles` says what columns are, where the guess is wrong.
        """
        with TemporaryDirectory() as folder:
            upload = self.site.post(self.at("uploads/"), file=as_file(outputs, Path(folder), "outputs"))
        here = f"uploads/{upload['id']}/"
        if roles:
            self.site.patch(self.at(here), roles=roles)
        job = self.post(f"{here}import/", {"mode": mode})
        try:
            self.site.wait(job)
        except ApiError as error:
            problems = self.get(here)["problems"] or {}
            names = ("row", "column", "message")
            error.rows = [dict(zip(names, row, strict=True)) for row in problems.get("rows", ())]
            raise
        return self.get(here)

    def mark_human(self, system: str) -> None:
        """Say which system is human."""
        found = next(each for each in self.get("systems/") if each["name"] == system)
        self.site.patch(self.at(f"systems/{found['id']}/"), is_human=True)

    def add_criterion(self, name: str, statement: str, **more: Any) -> Json:
        """Add a statement that workers agree with."""
        return self.post("criteria/", {"name": name, "statement": statement} | more)

    def add_chatbot(self, connector: str, name: str, *, settings: Json | None = None, **more: Any) -> Json:
        """Add a chatbot to a campaign with chats; `secrets={…}` are written and never read."""
        chatbot = {"connector": connector, "name": name, "settings": settings or {}} | more
        return self.post("chatbots/", chatbot)

    def test_chatbot(self, chatbot: Json, text: str = "Hello!") -> Json:
        """Say something to a chatbot, and return what came of it."""
        return self.post(f"chatbots/{chatbot['id']}/test/", {"text": text}, has_key=False)

    def estimate(self) -> Json:
        """Return how many HITs, ratings and rewards the design makes."""
        return self.get("hits/estimate/")

    def build(self) -> Json:
        """Build the HITs."""
        return self.site.wait(self.post("hits/"))

    def preview(self, hit: int = 1) -> Json:
        """Return a HIT as workers see it."""
        return self.get(f"hits/{hit}/preview/")

    def missing(self) -> list[str]:
        """Return what keeps the campaign from being launched."""
        return [step["title"] for step in self.get("checklist/") if step["state"] == "todo"]

    # --- Running

    def launch(self, *, is_confirmed: bool = False) -> Json:
        """Open the campaign to workers, with HITs that are built now if none are.

        `is_confirmed`: although no worker can pass the worker test.
        """
        if self.get()["status"] == "draft":
            self.build()
        return self.post("launch/", {"is_confirmed": is_confirmed})

    def pause(self) -> Json:
        """Give out no more HITs for a while."""
        return self.post("pause/")

    def resume(self) -> Json:
        """Give out HITs again."""
        return self.post("resume/")

    def close(self) -> Json:
        """End the campaign for good."""
        return self.post("close/")

    def open_link(self) -> str | None:
        """Return the address that anybody may open to take part, if there is one."""
        return self.get("access/")["open_link"]

    def invite(self, *names: str | Json) -> list[Json]:
        """Invite raters by name, or as `{"name": …, "email": …}`, and return all who are invited, with their links."""
        self.post("raters/", {"names": names})
        return list(self.pages("raters/"))

    def progress(self) -> Json:
        """Return how far the campaign is."""
        return self.get("progress/")

    def download(self, name: str, to: str | Path, **query: Any) -> Path:
        """Write one of the files of `get("exports/")`: `download("ratings.csv", "ratings.csv", states="all")`."""
        return self.site.download(self.at(f"exports/{name}"), to, **query)

    def responses(self) -> Data:
        """Return what workers answered so far, to `analyse` it here; raise DomainError `no_responses` before that."""
        folder = Folder()
        files = self.get("exports/")
        path = self.download(files["responses"], folder.path / files["responses"])
        with path.open("rb") as lines:
            if len(list(islice(lines, 2))) < 2:
                raise DomainError(
                    "no_responses",
                    "Nobody has finished a HIT yet. Ask again when campaign.progress() counts some.",
                )
        return replace(read(path, files["settings"]), folder=folder)

    def to_hf(self, folder: str | Path, *, license: str = "", repository: str = "", **more: Any) -> Path:
        """Write what workers answered so far into a folder for the Hugging Face Hub, as `Data.to_hf` does.

        The card is made from the campaign's datasheet; attributes of sources and raters are kept. Workers have the
        keyed hashes of the site's files. `more`: `task`, `languages` and `creators` as there.
        """
        data, sheet = self.responses(), self.get("datasheet/")
        sections = [Section(part["number"], part["title"], _questions(part["questions"])) for part in sheet["parts"]]
        about = Publication(self.get()["name"], license, repository=repository, datasheet=sections, **more)
        keep = [name for name in preview(data.path, n_rows=0).columns if not is_described(name)]
        return data.publish(folder, about, keep, key="")

    # --- Results

    def runs(self) -> "Iterator[Run]":
        """Yield the analyses, newest first."""
        return (Run(self.site, row["id"]) for row in self.pages("runs/"))

    def analyse(self) -> "Run":
        """Return the analysis of what was rated so far; wait for it."""
        self._wait_for_jobs()
        try:
            self.site.wait(self.post("runs/"))
        except ApiError as error:
            if error.code != "nothing_new":
                raise
        return next(self.runs()).wait()

    def _wait_for_jobs(self) -> None:
        """Wait for what the campaign itself has begun: its close, for one, has it analysed."""
        for pause_s in _pauses(self.site.longest_wait_s):
            if all(job["is_finished"] for job in self.get("jobs/")["results"]):
                return
            time.sleep(pause_s)


class Run:
    """An analysis."""

    def __init__(self, site: Site, run_id: str) -> None:
        self.site: Site = site
        self.run_id: str = run_id

    def get(self, part: str = "", **query: Any) -> Any:
        """Return the analysis, or a part of it: `get("comparisons/")`."""
        return self.site.get(f"runs/{self.run_id}/{part}", **query)

    def wait(self) -> Self:
        """Return the analysis once it is ready; raise ApiError if it fails."""
        for pause_s in _pauses(self.site.longest_wait_s):
            found = self.get()
            if found["state"] == "ready":
                return self
            if found["state"] == "failed":
                problems = (found["problems"] or {}).get("rows", [])
                rows = [dict(zip(("row", "column", "message"), row, strict=True)) for row in problems]
                raise ApiError(0, "failed", "The analysis has failed.", rows=rows)
            time.sleep(pause_s)
        raise AssertionError  # pauses have no end

    def result(self) -> Json:
        """Return the totals and the ranking."""
        return self.get("result/")

    def report(self) -> Json:
        """Return everything that was computed; `summary` is what `manage.py analyse --format json` prints."""
        return self.get("report/")

    def workers(self) -> list[Json]:
        """Return every worker's test, verdict and scores."""
        return self.get("workers/")

    def again(self, **changes: Any) -> "Run":
        """Analyse again with another `worker_test`, `alpha` or `unit`, and wait for it."""
        return Run(self.site, self.site.post(f"runs/{self.run_id}/again/", changes)["id"]).wait()

    def download(self, path: str, to: str | Path) -> Path:
        """Write one of the files of `get("files/")`, such as `package.zip`."""
        return self.site.download(f"runs/{self.run_id}/files/{path}", to)


def _questions(found: list[Json]) -> list[Question]:
    """Return the questions of a datasheet that a site sent."""
    names = [field.name for field in fields(Question)]
    return [Question(**{name: question[name] for name in names}) for question in found]


def _pauses(longest_wait_s: float = math.inf) -> Iterator[float]:
    """Yield how long to wait before each next try, longer and longer; raise TimeoutError after so long."""
    pause_s, until = _FIRST_PAUSE_S, time.monotonic() + longest_wait_s
    while time.monotonic() < until:
        yield pause_s
        pause_s = min(1.5 * pause_s, _LONGEST_PAUSE_S)
    raise TimeoutError(f"It is not done after {longest_wait_s:.0f} s. Does a worker run on the server?")


def _is_passing(response: httpx.Response) -> bool:
    """Tell whether the server is away for a moment, or still busy with the first of two same requests."""
    is_in_progress = response.status_code == _CONFLICT and "Retry-After" in response.headers
    return is_in_progress or response.status_code in _GONE_FOR_A_MOMENT


def _retry_after_s(response: httpx.Response) -> float:
    """Return after how many seconds the server wants to be asked again; 0 if it does not say so in seconds."""
    try:
        return float(response.headers.get("Retry-After", ""))
    except ValueError:
        return 0.0


def _content(response: httpx.Response) -> Any:
    return response.json() if response.content else None


def _error(response: httpx.Response) -> ApiError:
    """Return what a problem says; of an answer that is none, its status."""
    try:
        problem = response.json()
        return ApiError(
            response.status_code, problem["code"], problem["detail"], problem.get("errors"), problem.get("rows", ())
        )
    except (ValueError, KeyError, TypeError):
        return ApiError(response.status_code, "http", f"{response.status_code} {response.reason_phrase}")
