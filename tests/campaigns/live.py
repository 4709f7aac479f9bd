"""Live campaigns for tests: chatbots behind a server of this machine, and HITs of six chats."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from django.urls import reverse
from django.utils import timezone

from campaigns.models import Campaign, Chatbot
from campaigns.services.chatbots import add_chatbot
from campaigns.services.hits import execute_build
from evalsite.accounts.models import User
from tests.campaigns.cast import make_campaign

NAMES = ("Amber", "Birch", "Coral", "Dune", "Ember")
PERSONA = ["I live by the sea.", "I have two dogs."]
KEY = "sk-very-secret-0123456789"


def make_live(owner: User, protocol: str = "dialogue-free", *, names: tuple[str, ...] = NAMES) -> Campaign:
    """Return a draft with the degraded chatbot and others that speak from the example dialogues."""
    campaign = make_campaign(owner, protocol, "Autumn chats")
    for name in names:
        add_chatbot(campaign=campaign, name=name, connector="retrieval")
    campaign.refresh_from_db()
    return campaign


def build(campaign: Campaign, n_hits: int = 4) -> None:
    """Build HITs; the campaign is ready then."""
    Campaign.objects.filter(pk=campaign.pk).update(n_hits=n_hits)
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=nullcontext)
    campaign.refresh_from_db()


def launch(campaign: Campaign) -> Campaign:
    """Make a campaign one that workers have seen."""
    campaign.status, campaign.launched_at = Campaign.Status.RUNNING, timezone.now()
    campaign.save()
    return campaign


def chatbot_of(campaign: Campaign, name: str = "Amber") -> Chatbot:
    """Return the chatbot of this name, as it is now."""
    return Chatbot.objects.select_related("system").get(system__campaign=campaign, system__name=name)


def url_of(campaign: Campaign, name: str = "chatbots", *args: Any) -> str:
    """Return the address of a page of the campaign."""
    return reverse(f"campaigns:{name}", args=[campaign.public_id, *args])


@dataclass
class Server:
    """A chat completions server: what it was asked, and what it answers next."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    status: int = 200
    text: str = "Well, thank you. And you?"


@contextmanager
def running_server() -> Iterator[Server]:
    """Run such a server on a free port."""
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            server.keys.append(self.headers.get("Authorization", ""))
            message = {"role": "assistant", "content": server.text}
            answer = {"choices": [{"message": message, "finish_reason": "stop"}]}
            answer |= {"usage": {"prompt_tokens": 1000, "completion_tokens": 200}}
            body = json.dumps(answer if server.status < 400 else {"error": {"message": server.text}}).encode()
            self.send_response(server.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield server
        http.shutdown()
        thread.join()


def add_remote(campaign: Campaign, server: Server, name: str = "Remote", key: str = KEY, **fields: Any) -> Chatbot:
    """Add a chatbot that this server answers for."""
    return add_chatbot(
        campaign=campaign,
        name=name,
        connector="openai-chat",
        settings={"base_url": server.url, "model": "small"},
        secrets={"api_key": key},
        **fields,
    )
