"""Ids of requests and jobs: in the log, in the response, on the page of an error."""

import json
import logging

import pytest
from django.contrib.auth.decorators import login_not_required
from django.test import Client
from django.urls import path

from evalsite import urls
from evalsite.jobs.handlers import enqueue, job_handler
from evalsite.jobs.running import run_job
from evalsite.lib.context import Work, current_work, working_on
from evalsite.lib.logs import JsonFormatter, TextFormatter

SIGNATURE = "x2Y-Zp0qUoU3Jt_1hXQxq0n4sZ5w8k1vB7cD9eFgHiJ"
handler500 = urls.handler500
urlpatterns = [path("broken/", login_not_required(lambda request: 1 / 0)), *urls.urlpatterns]
broken = pytest.mark.urls(__name__)


def record(message: str = "Not Found: %s", *args: object, **fields: object) -> logging.LogRecord:
    made = logging.LogRecord("django.request", logging.WARNING, "", 0, message, args, None)
    made.__dict__.update(fields)
    return made


def as_json(made: logging.LogRecord) -> dict[str, object]:
    text = JsonFormatter().format(made)
    assert "\n" not in text
    return json.loads(text)


def test_a_line_of_json_has_the_ids_and_no_token() -> None:
    with working_on(Work(request_id="abcdefgh")):
        line = as_json(record("Not Found: %s", f"/rate/12.{SIGNATURE}/", fields={"status": 404}))
    assert line["message"] == "Not Found: /rate/***/"
    assert (line["level"], line["logger"], line["request_id"], line["status"]) == (
        *("WARNING", "django.request", "abcdefgh"),
        404,
    )
    assert "job_id" not in line
    assert str(line["time"]).endswith("+00:00")


def test_a_traceback_in_json_has_no_token() -> None:
    try:
        raise LookupError(f"/rate/12.{SIGNATURE}/")
    except LookupError as error:
        made = record("Failed", exc_info=(LookupError, error, error.__traceback__))
    line = as_json(made)
    assert str(line["exception"]).endswith("LookupError: /rate/***/")


def test_a_line_of_text_ends_with_the_ids() -> None:
    formatter = TextFormatter("{levelname} {message}", style="{")
    assert formatter.format(record("Hello")) == "WARNING Hello"
    with working_on(Work(job_id="5")):
        assert formatter.format(record("Hello")) == "WARNING Hello job_id=5"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("sent", "is_taken"),
    [("trace-1234.abc_DEF", True), ("short", False), ("x" * 65, False), ("two lines\nabc", False), ("é" * 10, False)],
)
def test_the_id_of_a_proxy_is_taken_if_it_cannot_disturb_the_log(client: Client, sent: str, is_taken: bool) -> None:
    answered = client.get("/accounts/sign-in/", headers={"X-Request-ID": sent}).headers["X-Request-ID"]
    assert (answered == sent) is is_taken
    assert len(answered) >= 8


@pytest.mark.django_db
@broken
@pytest.mark.parametrize("url", ["/broken/", "/nothing/here/"])
def test_the_page_of_an_error_says_the_id_that_its_log_lines_have(url: str) -> None:
    lines = []
    handler = logging.Handler()
    handler.emit = lambda made: lines.append(as_json(made))  # type: ignore[method-assign]
    logging.getLogger("django.request").addHandler(handler)
    try:
        answer = Client(raise_request_exception=False).get(url)
    finally:
        logging.getLogger("django.request").removeHandler(handler)
    request_id = answer.headers["X-Request-ID"]
    assert answer.status_code in (404, 500)
    assert f"request {request_id}" in answer.text
    assert [line["request_id"] for line in lines] == [request_id]


@pytest.mark.django_db(transaction=True)
def test_what_a_job_writes_has_its_id() -> None:
    seen = []
    kind = "example.log"
    job_handler(kind)(lambda ctx: seen.append(current_work().ids()))
    job = enqueue(kind)
    run_job(job.pk)
    assert seen == [{"job_id": str(job.pk)}]
    assert current_work().ids() == {}
