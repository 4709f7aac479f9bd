"""Seconds of job time until every page of a large result is ready, and until each page opens after that.

    python benchmarks/million.py [--quick | --size N]

A campaign of 10⁶ ratings (10⁵ with `--quick`): 50 systems, four criteria, 500 workers (a seventh careless), degraded
items, repeats and references, each HIT rated by two workers. Its ratings are analysed as a campaign's and, as a file of
one row a rating, as an upload's; each result is analysed again with another α, to compare, and with scores of two
metrics of every output; a plan learns from it. Every job runs in a process of its own. Then each address of
`analysis/urls.py` that answers to GET is opened once, as its first reader opens it, from gunicorn on the same database
with the job worker in the same process, as it is without Redis, once that has imported what it needs: pages, what a
share link shows, then the figures, packages and workbooks of the pages (`file_seconds`). `job_seconds` of a page are
those of all jobs that its result waited for. Times are CPU seconds of the process that works (`job_seconds`,
`open_seconds`) and, beside them, seconds of the clock. `worst` has the largest of each; `errors` counts pages that did
not open.
"""

import argparse
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

from benchmarks.finding import Browser
from benchmarks.million_ratings import make_campaign
from benchmarks.rating_cycle import free_port, in_new_site, peak_mb, serving

LIMITS = {"job_seconds": 60.0, "open_seconds": 1.0, "peak_mb": 2000.0}
METRICS = {"near": 5.0, "far": 20.0}
"""Two metrics: the quality of each output with noise of this standard deviation."""
_TICKS = os.sysconf("SC_CLK_TCK")
_DONE, _MOVED = 200, 302
_IDLE = 0.1
"""CPU seconds that a server without requests uses in six seconds, at most: it looks for jobs."""


@dataclass(frozen=True)
class Cost:
    """What something took: CPU seconds, seconds of the clock, and the peak memory of its process in MB."""

    cpu: float
    clock: float
    mb: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.cpu + other.cpu, self.clock + other.clock, max(self.mb, other.mb))


# --- Jobs


def run_in_own_process(job_id: str) -> Cost:
    """Run a job as a worker does, in a new process."""
    done = subprocess.run([sys.executable, __file__, "--job", job_id], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def run_one(job_id: str) -> None:
    """Run a job in this process, and print what it took once its modules were there."""
    import django

    django.setup()
    from evalsite.jobs.handlers import import_for_jobs
    from evalsite.jobs.models import Job
    from evalsite.jobs.running import run_job

    import_for_jobs()
    cpu, clock = time.process_time(), time.perf_counter()
    run_job(Job.objects.get(pk=job_id).pk)
    taken = time.process_time() - cpu, time.perf_counter() - clock
    job = Job.objects.get(pk=job_id)
    if job.status != Job.Status.SUCCEEDED:
        sys.exit(f"{job.kind}: {job.error_message}\n{job.error_details}")
    print(json.dumps(asdict(Cost(*taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000))))


class Jobs:
    """The jobs of the results, in order, and what they took."""

    def __init__(self) -> None:
        self.taken: dict[str, Cost] = {}

    def run(self, name: str, job: Any) -> Cost:
        """Run a job, and print what it took."""
        self.taken[name] = cost = run_in_own_process(str(job.pk))
        print(f"{name:<32} {cost.cpu:6.1f} s CPU {cost.clock:6.1f} s clock {cost.mb:6.0f} MB", flush=True)
        return cost


# --- Results


@dataclass
class Results:
    """What the pages show, and what each result's jobs took."""

    campaign: Any
    runs: dict[str, Any]
    plan: Any
    link: Any
    scores: Any
    cost: dict[str, Cost]


def make_results(campaign: Any, user: Any, jobs: Jobs) -> Results:
    """Analyse the campaign's ratings and the same as a file, each three times, and plan from them."""
    from analysis.models import AnalysisRun
    from analysis.web.services.campaigns import request_analysis
    from analysis.web.services.metrics import upload_scores
    from analysis.web.services.runs import change_run
    from analysis.web.services.sharing import create_share_link

    cost: dict[str, Cost] = {}
    runs: dict[str, Any] = {}
    collected = jobs.run("campaign: collect", request_analysis(campaign=campaign, user=user))
    runs["campaign"] = AnalysisRun.objects.get(ratings_file__campaign=campaign)
    cost["campaign"] = collected + jobs.run("campaign: analyse", runs["campaign"].job)
    runs["file"] = upload_file(runs["campaign"], user)
    cost["file"] = jobs.run("file: analyse", runs["file"].job)
    scores = None
    for of in ("campaign", "file"):
        run = AnalysisRun.objects.select_related("ratings_file__campaign").get(pk=runs[of].pk)
        other = change_run(run=run, user=user, alpha=0.01)
        runs[f"{of}, other α"] = other
        cost[f"{of}, other α"] = jobs.run(f"{of}: analyse, other α", other.job)
        with write_scores(run).open("rb") as stream:
            scores = upload_scores(run=run, user=user, upload=as_upload(stream, "metrics.csv"))
        runs[f"{of}, metrics"] = compared = change_run(run=run, user=user)
        cost[f"{of}, metrics"] = jobs.run(f"{of}: analyse, with metrics", compared.job)
    plan = plan_from(runs["campaign, metrics"], campaign, user)
    cost["plan"] = jobs.run("campaign: plan", plan.job)
    link = create_share_link(campaign=campaign, user=user)
    return Results(campaign, runs, plan, link, scores, cost)


def as_upload(stream: Any, name: str) -> Any:
    """Return an open file as a browser would send it."""
    from django.core.files.uploadedfile import UploadedFile

    return UploadedFile(stream, name, size=os.fstat(stream.fileno()).st_size)


def upload_file(run: Any, user: Any) -> Any:
    """Upload the ratings of a run as a file of one's own, by the service, and start its analysis."""
    from analysis.web.proposals import propose_settings
    from analysis.web.services.ratings_files import upload_ratings
    from analysis.web.services.runs import start_run

    start = time.process_time(), time.perf_counter()
    with Path(run.ratings_file.file.path).open("rb") as stream:
        file = upload_ratings(owner=user, upload=as_upload(stream, "ratings.csv"), title="Very many ratings")
    started = start_run(ratings_file=file, user=user, settings=propose_settings(file).settings)
    cost = Cost(time.process_time() - start[0], time.perf_counter() - start[1])
    print(f"{'file: upload':<32} {cost.cpu:6.1f} s CPU {cost.clock:6.1f} s clock, {file.size / 1e6:.0f} MB", flush=True)
    return started


def write_scores(run: Any) -> Path:
    """Write scores of two metrics of every output as a table, and return its path."""
    from campaigns.models import Output

    outputs = Output.objects.values_list("system__name", "source__name")
    rng = np.random.default_rng(5)
    path = Path(tempfile.mkdtemp(dir=os.environ["EVALSITE_DATA"])) / "metrics.csv"
    with path.open("w") as stream:
        stream.write("metric,system,source,score\n")
        for name, noise in METRICS.items():
            for (system, source), value in zip(outputs, rng.normal(0, noise, len(outputs)), strict=True):
                stream.write(f"{name},{system},{source},{int(system[-2:]) / 2 + value:.3f}\n")
    return path


def plan_from(run: Any, campaign: Any, user: Any) -> Any:
    """Queue a plan that learns from a run: the campaign's systems, a tenth of its HITs, or fewer."""
    from analysis.planning.plans import PlanSettings
    from analysis.stats.designs import PlannedDesign
    from analysis.web.services.planning import start_plan

    design = PlannedDesign(
        n_systems=50, n_workers=100, n_sources=140, n_ordinary=70, n_degraded=10, n_repeat=10, n_criteria=4,
        worker_test="paired-wilcoxon",
    )  # fmt: skip
    return start_plan(user=user, settings=PlanSettings(design, difference=5), campaign=campaign, pilot=run)


# --- Pages


def addresses(results: Results) -> Iterator[tuple[str, str, str]]:
    """Return name, result and path of each address of the analysis, from the URL configuration, with its arguments."""
    from django.urls import reverse

    from analysis import urls

    file = results.runs["file, metrics"]
    known = {
        "ratings_file_id": file.ratings_file_id,
        "public_id": results.campaign.public_id,
        "plan_id": results.plan.pk,
        "token": results.link.token,
        "link_id": results.link.pk,
        "scores_id": results.scores.pk,
        "suffix": "json",
        "connector": "openai-chat",
    }
    patterns = [(f"analysis:{each.name}", each) for each in urls.urlpatterns if each.name]
    patterns += [(f"shared:{each.name}", each) for each in urls.shared[0] if each.name]
    for name, pattern in patterns:  # former addresses have no name
        wanted = list(pattern.pattern.converters)
        if "name" in wanted or set(wanted) - set(known) - {"run_id", "job_id"}:  # files; pages of what is not made here
            continue
        for of in ("file, metrics", "file, other α") if "run_id" in wanted else ("campaign, metrics",):
            own = known | {"run_id": results.runs[of].pk, "job_id": results.runs[of].job_id}
            path = reverse(name, kwargs={each: own[each] for each in wanted})
            of = "plan" if "plan" in name else "file, metrics" if "ratings_file_id" in wanted else of
            yield name, of, path + query_of(name, results)


def query_of(name: str, results: Results) -> str:
    """Return what an address asks for: two results to compare, a criterion."""
    runs = results.runs
    first, second = runs["file"].pk, runs["file, other α"].pk
    queries = {
        "analysis:compare": {"second": first},
        "analysis:campaign_compare": {"second": runs["campaign, other α"].pk},
        "analysis:compare_any": {"first": runs["campaign"].pk, "second": second, "more": first},
        "analysis:comparison_file": {"first": first, "second": second, "file": "tables/comparison-systems.csv"},
        "analysis:protocol": {"run": second},
    }
    return f"?{urlencode(queries[name])}" if name in queries else ""


def server_cpu(pid: int) -> float:
    """Return the CPU seconds that a server's processes have used so far."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    fields = [Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split() for each in children]
    return sum(int(each[11]) + int(each[12]) for each in fields) / _TICKS


def wait_until_idle(pid: int) -> None:
    """Wait until a server has imported what jobs and pages need."""
    used, before = server_cpu(pid), -1.0
    while used - before > _IDLE:
        time.sleep(6)
        used, before = server_cpu(pid), used


def open_one(browser: Browser, pid: int, path: str) -> tuple[int, str, Cost]:
    """Open an address; return status, text, and what that took the server."""
    cpu, clock = server_cpu(pid), time.perf_counter()
    status, text = browser.ask("GET", path)
    return status, text, Cost(server_cpu(pid) - cpu, time.perf_counter() - clock)


def open_all(results: Results, user: Any) -> dict[str, Any]:
    """Open every page, then all files that pages link to; print a line of each page, and return the worst."""
    os.environ["JOBS_IN_PROCESS"] = "true"  # of the server
    port = free_port()
    pages: list[dict[str, Any]] = []
    files: dict[str, str] = {}
    errors: list[Any] = []
    skipped: list[str] = []
    with serving(port, "FULL") as pid:
        browser = Browser(port, user)
        wait_until_idle(pid)
        for name, of, path in addresses(results):
            status, text, cost = open_one(browser, pid, path)
            job = results.cost[of]
            line = {
                "page": name,
                "result": of,
                "status": status,
                "job_seconds": round(job.cpu, 1),
                "job_clock": round(job.clock, 1),
                "open_seconds": round(cost.cpu, 2),
                "open_clock": round(cost.clock, 3),
                "kb": len(text) // 1000,
            }
            if status == _DONE:
                pages.append(line)
                files |= {found: name for found in links_in(text) if found not in files}
            elif status in (_MOVED, 404, 405):  # leads elsewhere; has no chats; is only sent to
                skipped.append(f"{name} {status}")
                continue
            else:
                errors.append(line)
            print(json.dumps(line), flush=True)
        of_files = [(*open_one(browser, pid, path), path) for path in files]
        errors += [path for status, _, _, path in of_files if status != _DONE]
        memory = peak_mb(pid)
    slowest = max(of_files, key=lambda each: each[2].cpu)
    return {
        "n_pages": len(pages),
        "n_files": len(of_files),
        "not_opened": skipped,
        "errors": len(errors),
        "failed": errors,
        "server_mb": round(memory),
        "worst_page": max(pages, key=lambda line: line["open_seconds"])["page"],
        "open_seconds": max(line["open_seconds"] for line in pages),
        "open_clock": max(line["open_clock"] for line in pages),
        "job_seconds": max(line["job_seconds"] for line in pages),
        "file_seconds": round(slowest[2].cpu, 2),
        "worst_file": re.sub(r"[0-9a-f-]{36}|\?.*", "…", slowest[3]),
    }


def links_in(text: str) -> list[str]:
    """Return the figures that a page shows in a light theme, and the package and the workbook that it offers."""
    found = re.findall(r'(?:src|href)="(/[^"]+(?:(?<!-dark)\.svg|package\.zip|tables\.xlsx)[^"]*)"', text)
    return [path.replace("&amp;", "&") for path in found if "/static/" not in path]


def run(n_ratings: int) -> None:
    """Make the campaign, run the jobs, open the pages; print, last, one JSON object."""
    import django
    from django.db import connection

    start = time.perf_counter()
    campaign, user = make_campaign(n_ratings)
    print(f"{n_ratings:,} ratings in the database after {time.perf_counter() - start:.0f} s", flush=True)
    jobs = Jobs()
    results = make_results(campaign, user, jobs)
    opened = open_all(results, user)
    worst = {name: opened[name] for name in ("job_seconds", "open_seconds")}
    worst["peak_mb"] = max(opened["server_mb"], *(round(cost.mb) for cost in jobs.taken.values()))
    result = {
        "benchmark": "million",
        "n_ratings": n_ratings,
        "worst": worst,
        "is_within": {name: worst[name] < limit for name, limit in LIMITS.items()},
        **opened,
        "jobs": {
            name: {key: round(value, 1) for key, value in asdict(cost).items()} for name, cost in jobs.taken.items()
        },
        "database": connection.vendor,
        "cores": os.cpu_count(),
        "versions": {"python": platform.python_version(), "django": django.__version__, "numpy": np.__version__},
    }
    print(json.dumps(result))


def main() -> None:
    """Measure in a site of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10⁵ ratings")
    parser.add_argument("--size", type=int, metavar="N", help="ratings, a multiple of 4,000")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        run_one(options.job)
    else:
        in_new_site(lambda: run(options.size or (10**5 if options.quick else 10**6)))


if __name__ == "__main__":
    main()
