"""A simulated platform at work: its interface and web site on a port, and the settings that lead evalsite to it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

from simulators.faults import Faults
from simulators.ledger import Ledger
from simulators.mturk import MTurkApi
from simulators.mturk_site import mturk_application
from simulators.portals import MTurkPortal, ProlificPortal
from simulators.prolific import ProlificApi
from simulators.prolific_site import prolific_application
from simulators.server import Application, Served
from simulators.tls import Certificate
from simulators.workers import WorkerPortal

KEY_ID, SECRET_KEY, TOKEN = "SIMULATEDKEYID", "simulated-secret-key", "simulated-token"


@dataclass(frozen=True)
class Running:
    """A platform that is served at `url`, with the portal of its workers. `environment` is for evalsite."""

    title: str
    url: str
    environment: Mapping[str, str]
    application: Application
    portal: WorkerPortal

    @property
    def origins(self) -> tuple[str, str]:
        """Its address, by number and by name."""
        return self.url, self.url.replace("127.0.0.1", "localhost")


@contextmanager
def mturk_running(
    ledger: Ledger, faults: Faults, *, balance: Decimal, port: int = 0, certificate: Certificate | None = None
) -> Iterator[Running]:
    """Run Mechanical Turk; `balance` in dollars."""
    api = MTurkApi(ledger, faults, access_key=KEY_ID, secret_key=SECRET_KEY, balance=f"{balance:.2f}")
    application = mturk_application(api, is_secure=certificate is not None)
    with Served(application, port=port, tls=certificate.for_server() if certificate else None) as served:
        environment = {
            "MTURK_SANDBOX_URL": served.url,
            "MTURK_ACCESS_KEY_ID": KEY_ID,
            "MTURK_SECRET_ACCESS_KEY": SECRET_KEY,
        }
        yield Running("Mechanical Turk", served.url, environment, application, MTurkPortal(api, served.url))


@contextmanager
def prolific_running(
    ledger: Ledger, faults: Faults, *, balance: Decimal, port: int = 0, certificate: Certificate | None = None
) -> Iterator[Running]:
    """Run Prolific, which sends its notifications too; `balance` in pounds."""
    api = ProlificApi(ledger, faults, token=TOKEN, balance=int(balance * 100))
    application = prolific_application(api, is_secure=certificate is not None)
    with Served(application, port=port, tls=certificate.for_server() if certificate else None) as served:
        api.site_url = served.url
        environment = {"PROLIFIC_URL": served.url, "PROLIFIC_TOKEN": TOKEN}
        with api.delivering(tls=certificate.for_client() if certificate else None):
            yield Running("Prolific", served.url, environment, application, ProlificPortal(api))
