"""What the site adds to the time that a worker waits for a chatbot's reply, with 300 chats at once.

    python benchmarks/chat.py [--quick] [--chats 300] [--inputs 5] [--think 3] [--rounds 3]

A chatbot answers after 3 s, streaming, behind an OpenAI-compatible API on this machine
(`simulators/chat_completions.py`). Workers (`chat_client.py`, a process of its own) open their chats; once all are
open, each thinks before each input, for a time drawn from the exponential distribution with a mean of 3 s, sends it as
the page's script does, on a connection of its own, and waits for the reply. They begin at moments spread over 6 s, as
they would be in the middle of their chats.
`overhead` is what they waited from sending, with the connection, to the reply's last byte, less the chatbot's own time,
which it measures and puts into its reply.

The site: gunicorn, two processes with a thread for every chat, the product's settings, PostgreSQL with its ordinary
durability and Redis: those of DATABASE_URL (a server where databases may be made) and REDIS_URL, else private ones.
Nothing of a chat goes through Redis: it carries jobs. A first round, of one input, warms up and is not counted.

The floor: the same workers ask the chatbot directly, in turn with the site, in the same run. `ratio` is the median time
that workers wait at the site over that of the floor. `errors` counts chats that broke off, and turns that are missing
from the database, or too many, in the end. Numbers are medians of the rounds; `peak_mb` is of the larger web process.
"""

import argparse
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.services import free_port, new_database, running_postgres, running_redis, wait_until

DELAY_S, OPEN_S = 3.0, 15.0
N_PROCESSES, SPARE_THREADS = 2, 32
FLOOR_INPUTS = 2
CHATBOTS = ("Amber", "Birch", "Coral", "Dune", "Ember")


@dataclass(frozen=True)
class Load:
    """How many chat at once, and how."""

    n_chats: int
    n_inputs: int
    think_s: float


@contextmanager
def running(command: list[str], port: int, **environment: str) -> Iterator[int]:
    """Run a server until the block ends; yield the id of its process once it takes connections."""
    process = subprocess.Popen([sys.executable, *command], cwd=ROOT, env=os.environ | environment)
    try:
        wait_until(lambda: _takes_connections(port), 30, f"{command[0]} takes connections")
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def _takes_connections(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def web_command(port: int, n_chats: int) -> list[str]:
    """Return the command of the site, with a thread for every chat, wherever its connection lands."""
    serve = ["-m", "gunicorn", "evalsite.wsgi", "--bind", f"127.0.0.1:{port}", "--log-level", "error"]
    return [*serve, "--workers", str(N_PROCESSES), "--threads", str(n_chats + SPARE_THREADS)]


def open_campaign(chatbot_port: int) -> Any:
    """Return a draft with five chatbots that all ask the benchmark's."""
    from campaigns.services.campaigns import create_campaign
    from campaigns.services.chatbots import add_chatbot
    from evalsite.accounts.models import User

    owner = User.objects.create_user("owner@example.org", "owner-password")
    campaign = create_campaign(owner=owner, protocol="dialogue-free", name="Benchmark")
    settings = {"base_url": f"http://127.0.0.1:{chatbot_port}/v1", "model": "slow"}
    for name in CHATBOTS:
        add_chatbot(campaign=campaign, name=name, connector="openai-chat", settings=settings)
    return campaign


def open_hits(campaign: Any, n_workers: int) -> list[str]:
    """Build as many HITs, without the degraded chatbot, launch, give each to a worker; return their pages' paths."""
    from django.db import transaction
    from django.urls import reverse

    from annotation.access.tokens import token_of
    from annotation.services.assignments import start_assignment
    from campaigns.services.campaigns import change_campaign
    from campaigns.services.design import change_design
    from campaigns.services.hits import execute_build
    from campaigns.services.lifecycle import launch_campaign

    change_design(campaign=campaign, changes={"n_hits": n_workers, "n_degraded": 0, "seed": 1})
    change_campaign(campaign=campaign, changes={"worker_test": "none"})
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    launch_campaign(campaign=campaign)
    campaign.refresh_from_db()
    assignments = [start_assignment(campaign=campaign, worker_key=f"worker-{k}") for k in range(n_workers)]
    return [reverse("rate:hit", args=[token_of(assignment)]) for assignment in assignments]


def chat(port: int, paths: list[str], load: Load, n_inputs: int) -> dict[str, Any]:
    """Have a chat at each path at once; return what the workers measured."""
    plan = {
        "port": port,
        "paths": paths,
        "n_inputs": n_inputs,
        "open_s": OPEN_S if paths[0] else 0.0,
        "think_s": load.think_s,
        "cycle_s": load.think_s + DELAY_S,
    }
    client = [sys.executable, str(ROOT / "benchmarks/chat_client.py")]
    done = subprocess.run(client, input=json.dumps(plan), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    measured: dict[str, Any] = json.loads(done.stdout)
    for error in measured["errors"][:5]:
        print(f"  {error}", file=sys.stderr)
    return measured


def percentile(values: list[float], percent: int) -> float:
    """Return a percentile; 0 of nothing."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1] if len(values) > 1 else 0.0


def web_processes(pid: int) -> list[str]:
    """Return the ids of gunicorn's worker processes."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def peak_mb(pid: int) -> float:
    """Return the peak memory of the largest web process."""
    status = [Path(f"/proc/{each}/status").read_text() for each in web_processes(pid)]
    return max(int(text.split("VmHWM:")[1].split()[0]) for text in status) / 1000


def cpu_s(pid: int) -> float:
    """Return the CPU seconds that the web processes have used."""
    fields = [Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in web_processes(pid)]
    return sum(int(each[11]) + int(each[12]) for each in fields) / os.sysconf("SC_CLK_TCK")


def measure(web_port: int, chatbot_port: int, pid: int, load: Load, n_rounds: int, paths: list[str]) -> dict[str, Any]:
    """Warm up, then measure the site and the floor in turn; return the medians of the rounds."""
    rounds: list[dict[str, float]] = []
    errors: list[str] = []
    for k in range(n_rounds + 1):
        mine = paths[k * load.n_chats : (k + 1) * load.n_chats]
        used_before = cpu_s(pid)
        ours = chat(web_port, mine, load, load.n_inputs if k else 1)
        used_s = cpu_s(pid) - used_before
        errors += ours["errors"]
        if not k:
            continue
        floor = chat(chatbot_port, [""] * load.n_chats, load, FLOOR_INPUTS)
        errors += floor["errors"]
        n_replies = len(ours["overhead_ms"])
        row = {
            "overhead_p50_ms": percentile(ours["overhead_ms"], 50),
            "overhead_p95_ms": percentile(ours["overhead_ms"], 95),
            "overhead_p99_ms": percentile(ours["overhead_ms"], 99),
            "floor_overhead_p50_ms": percentile(floor["overhead_ms"], 50),
            "floor_overhead_p95_ms": percentile(floor["overhead_ms"], 95),
            "messages_per_s": 2 * n_replies / ours["seconds"],
            "web_cpu_ms_per_reply": used_s * 1000 / max(n_replies, 1),
            "client_cpu_share": ours["cpu_s"] / ours["seconds"],
            "ratio": percentile(ours["waited_ms"], 50) / max(percentile(floor["waited_ms"], 50), 1e-9),
            "n_replies": n_replies,
            "load": os.getloadavg()[0],
        }
        rounds.append(row)
        print(
            f"round {k}: {n_replies} replies, overhead p50 {row['overhead_p50_ms']:.0f} ms, p95 "
            f"{row['overhead_p95_ms']:.0f} ms, floor p50 {row['floor_overhead_p50_ms']:.0f} ms, "
            f"{row['web_cpu_ms_per_reply']:.1f} ms of CPU a reply, load {row['load']:.1f}",
            flush=True,
        )
    medians = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
    return medians | {"n_replies": sum(round["n_replies"] for round in rounds), "errors": errors}


def count_wrong_turns(n_expected: int) -> int:
    """Return how many turns are missing or too many; that none is there twice the database sees to itself."""
    from annotation.models import Conversation, Turn

    n_even = Conversation.objects.filter(n_turns__gt=0).values_list("n_turns", flat=True)
    return abs(Turn.objects.count() - n_expected) + abs(sum(n_even) - n_expected)


def run(load: Load, n_rounds: int, chatbot_port: int, web_port: int) -> None:
    """Prepare, serve, measure, print."""
    import django
    from django.core.management import call_command
    from django.db import connection

    django.setup()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    paths = open_hits(open_campaign(chatbot_port), load.n_chats * (n_rounds + 1))
    with running(web_command(web_port, load.n_chats), web_port) as pid:
        measured = measure(web_port, chatbot_port, pid, load, n_rounds, paths)
        memory = peak_mb(pid)
    n_said = load.n_chats * (1 + load.n_inputs * n_rounds)
    n_wrong = count_wrong_turns(2 * n_said)
    result = {
        "benchmark": "chat",
        **{name: round(value, 3) for name, value in measured.items() if name != "errors"},
        "errors": len(measured["errors"]) + n_wrong,
        "peak_mb": round(memory, 1),
        "n_chats": load.n_chats,
        "n_inputs": load.n_inputs,
        "n_rounds": n_rounds,
        "think_s": load.think_s,
        "chatbot_s": DELAY_S,
        "database": connection.vendor,
        "versions": {
            "python": platform.python_version(),
            "django": django.__version__,
            "postgresql": ".".join(map(str, connection.get_database_version())),
        },
        "cores": os.cpu_count(),
    }
    print(json.dumps(result))


def main() -> None:
    """Start what the site needs, measure, print the rounds and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round of two inputs")
    parser.add_argument("--chats", type=int, default=300, help="how many at once (300)")
    parser.add_argument("--inputs", type=int, help="inputs of each chat (5, or 2)")
    parser.add_argument("--rounds", type=int, help="how often to measure (3, or 1)")
    parser.add_argument("--think", type=float, default=3.0, help="mean seconds before an input (3)")
    options = parser.parse_args()
    load = Load(options.chats, options.inputs or (2 if options.quick else 5), options.think)
    chatbot_port, web_port = free_port(), free_port()
    with ExitStack() as stack:
        server = os.environ.get("DATABASE_URL") or stack.enter_context(running_postgres(is_durable=True))
        redis_url = os.environ.get("REDIS_URL") or stack.enter_context(running_redis())
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="chat-"))
        os.environ |= {
            "DATABASE_URL": new_database(server, f"chat-{time.time_ns()}"),
            "REDIS_URL": redis_url,
            "EVALSITE_DATA": folder,
            "DJANGO_SETTINGS_MODULE": "evalsite.settings",
            "LOG_LEVEL": "ERROR",
            "CHATBOT_HOSTS": f"127.0.0.1:{chatbot_port}",
            "CHATS_AT_ONCE": str(load.n_chats),
            "PYTHONPATH": str(ROOT),
        }
        chatbot = ["-m", "simulators.chat_completions", str(chatbot_port), "--delay", str(DELAY_S)]
        stack.enter_context(running(chatbot, chatbot_port))
        run(load, options.rounds or (1 if options.quick else 3), chatbot_port, web_port)


if __name__ == "__main__":
    main()
