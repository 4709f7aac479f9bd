"""Judges of a rated campaign's outputs, asked through a server of this machine."""

import re
from decimal import Decimal

from django.utils import timezone

from analysis.models import Judge
from analysis.web.services.judges import add_judge, start_judge
from analysis.web.services.judging import judge_outputs
from evalsite.jobs.handlers import JobContext
from evalsite.jobs.models import Job

KEY = "sk-judge-0123456789"
TOKENS = (100, 20)
# 100 · 1 + 20 · 10 in millionths: what a call costs by the tokens that the server counts.
PRICES = {"price_in": Decimal(1), "price_out": Decimal(10)}
COST = Decimal("0.0003")


def rating(body):
    """Rate by the length of the output, the same for each statement."""
    prompt = body["messages"][0]["content"]
    n = len(re.findall(r"^\d+\. ", prompt, re.MULTILINE))
    text = re.search(r"\(rate this\):\n(.*)", prompt)[1]
    return "{" + ", ".join(f'"{k}": {len(text) % 101}' for k in range(1, n + 1)) + "}"


def added(campaign, owner, server, **more):
    options = {"base_url": server.base_url, "model": "judge-1"}
    values = {
        "name": "J",
        "connector": "openai-chat",
        "settings": options,
        "secrets": {"api_key": KEY},
        "max_parallel": 1,
    }
    made = add_judge(campaign=campaign, user=owner, **(values | PRICES | more))
    return fresh(made)


def fresh(judge):
    return Judge.objects.select_related("campaign", "created_by", "job", "scores").get(pk=judge.pk)


def ask(judge, owner, **limits):
    """Start a judge and run its job to the end."""
    start_judge(judge=judge, user=owner, limits={"max_calls": 1000} | limits)
    return run(fresh(judge))


def run(judge, sleep=lambda seconds: None, ctx=None):
    ctx = ctx or JobContext()
    judge_outputs(judge=judge, on_progress=ctx.progress, saving=ctx.saving, sleep=sleep)
    Job.objects.filter(pk=judge.job_id).update(status=Job.Status.SUCCEEDED, finished_at=timezone.now())
    return fresh(judge)


def spent(judge):
    return sum(answer.price for answer in judge.answers.all())
