"""The way to addresses that a researcher chooses: which hosts, which addresses, how long, with real sockets."""

import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from evalsite.lib.http import (
    Client,
    Deadline,
    HostRefusedError,
    RequestError,
    Response,
    TimeoutException,
    TooLongError,
    open_guarded_client,
    post_within,
)

PUBLIC, PUBLIC_TOO, PRIVATE = "93.184.216.34", "93.184.216.35", "10.1.2.3"


class Site(BaseHTTPRequestHandler):
    """Greets by the name that it was asked for; `/to?…` redirects, `/slow` sends a byte now and then, without end."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/slow":
            self._dribble()
            return
        body = b"x" * int(query) if path == "/long" else f"hello from {self.headers['Host']}".encode()
        self.send_response(307 if path == "/to" else 200)
        if path == "/to":
            self.send_header("Location", query)
        self.send_header("Set-Cookie", "chat=1")
        self.send_header("X-Cookie", self.headers.get("Cookie", ""))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def _dribble(self):
        self.close_connection = True
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not self.server.is_over.wait(0.05):
                self.wfile.write(b"X-Slow: 1\r\n")
        except OSError:
            pass

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    """Counts its connections, of which it takes hundreds at a time."""

    request_queue_size = 512
    daemon_threads = True

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Site)
        self.is_over = threading.Event()
        self.n_connections = 0
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_side=True)

    def process_request(self, request, client_address):
        self.n_connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request, client_address):
        pass  # a client that does not trust it, or has had enough

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.005,), daemon=True).start()
        return self

    def __exit__(self, *args):
        self.is_over.set()
        self.shutdown()
        self.server_close()


@pytest.fixture
def site() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[list[str]]]:
    """Answers of a name server, by name: one list of addresses for each time that it is asked, the last for ever.

    What is sent to an address of PUBLIC or PRIVATE comes to this machine, and is noted under "reached".
    """
    known: dict[str, list[list[str]]] = {"reached": []}
    look_up, connect = socket.getaddrinfo, socket.socket.connect

    def answer(host, port, *args, **kwargs):
        if host not in known:
            return look_up(host, port, *args, **kwargs)
        addresses = known[host].pop(0) if len(known[host]) > 1 else known[host][0]
        return [found for address in addresses for found in look_up(address, port, type=socket.SOCK_STREAM)]

    def connect_here(self, address):
        if address[0] in (PUBLIC, PUBLIC_TOO, PRIVATE):
            known["reached"].append([address[0]])
            address = ("127.0.0.1", *address[1:])
        connect(self, address)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    monkeypatch.setattr(socket.socket, "connect", connect_here)
    return known


def get(url: str, *allowed: str) -> Response:
    with open_guarded_client(url, allowed=allowed) as client:
        return client.get(url)


# --- Which hosts


@pytest.mark.parametrize(
    ("entry", "host"),
    [
        ("chat.example.org", "chat.example.org"),
        ("chat.example.org", "CHAT.example.org."),
        ("Chat.Example.org:{port}", "chat.example.org"),
        ("*.example.org", "chat.example.org"),
        ("*.example.org", "a.b.example.org"),
        ("*", "chat.example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
    ],
)
def test_a_host_that_is_allowed_is_reached_by_its_name(site, names, entry, host):
    names[host.lower()] = [[PUBLIC]]
    url = f"http://{host}:{site.server_port}/"
    assert get(url, entry.format(port=site.server_port)).text == f"hello from {host.lower()}:{site.server_port}"
    assert names["reached"] == [[PUBLIC]]


@pytest.mark.parametrize(
    ("entries", "host"),
    [
        ((), "example.org"),
        (("example.org",), "chat.example.org"),
        (("*.example.org",), "example.org"),
        (("*.example.org",), "badexample.org"),
        (("*.example.org",), "example.org.evil.net"),
        (("example.org:1",), "example.org"),
        (("", " "), "example.org"),
        (("0.0.0.0",), "127.0.0.1"),
    ],
)
def test_a_host_that_no_entry_names_is_refused_and_the_admin_is_told_what_to_do(entries, host):
    with pytest.raises(HostRefusedError, match=f"{host}.* CHATBOT_HOSTS"):
        open_guarded_client(f"http://{host}:8000/", allowed=entries)


@pytest.mark.parametrize(
    ("url", "entries", "line"),
    [
        ("http://10.0.0.1:8000/", ["a.org", " "], "CHATBOT_HOSTS=a.org,10.0.0.1:8000"),
        ("http://localhost/", ["*"], "CHATBOT_HOSTS=*,localhost"),
        ("http://[fd00::7]:8000/", [], "CHATBOT_HOSTS=[fd00::7]:8000"),
    ],
)
def test_the_line_that_a_refusal_names_allows_the_host(url, entries, line):
    with pytest.raises(HostRefusedError) as refused:
        open_guarded_client(url, allowed=entries)
    assert f"{line} for this server" in str(refused.value)
    open_guarded_client(url, allowed=line.partition("=")[2].split(","))


@pytest.mark.parametrize(
    "address", ["", "chat.example.org", "ftp://a.org", "http://", "http://0177.0.0.1", "http://me:secret@a.org"]
)
def test_what_is_no_address_or_has_a_password_in_it_is_refused(address):
    with pytest.raises(ValueError) as refused:
        open_guarded_client(address, allowed=["*"])
    assert "me:secret" not in str(refused.value)


@pytest.mark.parametrize("entry", ["[::1]", "[::1]:8000", "::1", "[0:0:0:0:0:0:0:1]:8000"])
def test_addresses_of_version_6_are_named_in_brackets_or_without_a_port(entry):
    open_guarded_client("http://[::1]:8000/", allowed=[entry]).close()


@pytest.mark.parametrize("entry", ["*example.org", "a.org:http", ":80", "a.*", "http://a.org"])
def test_entries_that_cannot_be_meant_are_refused(entry):
    with pytest.raises(ValueError):
        open_guarded_client("http://a.org", allowed=[entry])


# --- Which addresses

NOT_PUBLIC = [
    "127.0.0.1", "127.255.0.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
    "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1", "192.88.99.1", "224.0.0.1", "239.255.255.250", "240.0.0.1",
    "255.255.255.255", "[::]", "[::1]", "[fe80::1]", "[fc00::1]", "[fec0::1]", "[ff02::1]", "[ff0e::1]",
    "[2001:db8::1]", "[100::1]", "[3fff::1]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]",
    "[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::1]", "[2001:0:7f00:1::]",
]  # fmt: skip
SPELLINGS = ["2130706433", "0x7f000001", "127.1", "0x7f.1", "0", "localhost", "LOCALHOST", "[0::1]"]


@pytest.mark.parametrize("host", NOT_PUBLIC + SPELLINGS)
def test_addresses_that_are_not_public_are_refused_however_they_are_spelt(site, host):
    with pytest.raises(HostRefusedError, match="CHATBOT_HOSTS"):
        get(f"http://{host}:{site.server_port}/", "*")
    assert site.n_connections == 0


@pytest.mark.parametrize("address", [address.strip("[]") for address in NOT_PUBLIC])
def test_names_that_lead_to_such_addresses_are_refused(site, names, address):
    names["chat.example.org"] = [[address]]
    with pytest.raises(HostRefusedError):
        get(f"http://chat.example.org:{site.server_port}/", "*.example.org")
    assert site.n_connections == 0
    assert names["reached"] == []


@pytest.mark.parametrize("addresses", [[PUBLIC, PRIVATE], [PRIVATE, PUBLIC]])
def test_every_address_of_a_name_must_be_public(site, names, addresses):
    names["chat.example.org"] = [addresses]
    with pytest.raises(HostRefusedError):
        get(f"http://chat.example.org:{site.server_port}/", "*")
    assert names["reached"] == []


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_may_be_asked(address):
    host = f"[{address}]" if ":" in address else address
    open_guarded_client(f"https://{host}/v1", allowed=["*"]).close()


@pytest.mark.parametrize("entry", ["localhost", "localhost:{port}"])
def test_a_private_host_that_is_named_as_it_is_is_reached(site, entry):
    url = f"http://localhost:{site.server_port}/"
    assert get(url, entry.format(port=site.server_port), "*").status_code == 200
    with pytest.raises(HostRefusedError):
        get("http://127.0.0.1:9/", entry.format(port=site.server_port), "*")


def test_another_port_of_a_private_host_is_not_allowed_with_it(site):
    with pytest.raises(HostRefusedError):
        get(f"http://127.0.0.1:{site.server_port}/", "127.0.0.1:1", "*")


def test_a_name_is_looked_up_once_and_the_connection_goes_there(site, names):
    names["chat.example.org"] = [[PUBLIC], [PRIVATE]]  # the second answer would be for a second look-up
    assert get(f"http://chat.example.org:{site.server_port}/", "*").status_code == 200
    assert names["reached"] == [[PUBLIC]]


def test_a_name_that_leads_elsewhere_later_is_refused_then(site, names):
    names["chat.example.org"] = [[PUBLIC], [PRIVATE]]
    url = f"http://chat.example.org:{site.server_port}/"
    with open_guarded_client(url, allowed=["*"]) as client:
        assert client.get(url, headers={"Connection": "close"}).status_code == 200
        with pytest.raises(HostRefusedError):
            client.get(url)
    assert names["reached"] == [[PUBLIC]]


def test_of_several_addresses_the_first_that_answers_is_taken(site, names, monkeypatch):
    names["chat.example.org"] = [[PUBLIC_TOO, PUBLIC]]
    connect = socket.socket.connect

    def refuse_one(self, address):
        if address[0] == PUBLIC_TOO:
            raise ConnectionRefusedError
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", refuse_one)
    assert get(f"http://chat.example.org:{site.server_port}/", "*").status_code == 200


def test_a_name_that_leads_nowhere_is_unreachable_not_refused(names):
    names["chat.example.org"] = [[]]
    with pytest.raises(RequestError) as failed:
        get("http://chat.example.org/", "*")
    assert not isinstance(failed.value, HostRefusedError)


# --- Redirects


@pytest.mark.parametrize(
    "other_host",
    ["http://127.0.0.1:{port}/", "http://169.254.169.254/latest/", "http://other.example.org/", "//localhost:{port}/"],
)
def test_redirects_to_another_host_are_refused(site, names, other_host):
    names["chat.example.org"], names["other.example.org"] = [[PUBLIC]], [[PUBLIC]]
    with pytest.raises(HostRefusedError):
        get(
            f"http://chat.example.org:{site.server_port}/to?{other_host.format(port=site.server_port)}",
            "*",
            "localhost",
        )
    assert site.n_connections == 1


def test_redirects_on_the_host_are_followed_and_checked_again(site, names):
    names["chat.example.org"] = [[PUBLIC]]
    url = f"http://chat.example.org:{site.server_port}/to?/hello"
    assert get(url, "*").text.startswith("hello")


# --- TLS


def make_certificate(folder: Path, name: str) -> tuple[Path, ssl.SSLContext]:
    """Return the certificate of a self-made authority, and a server's context with one that it signed for a name."""
    now = datetime.now(UTC)
    root_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root_name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Test authority")])

    def sign(subject: x509.Name, public_key: ec.EllipticCurvePublicKey, *extensions: x509.ExtensionType) -> bytes:
        builder = x509.CertificateBuilder(root_name, subject, public_key, x509.random_serial_number())
        builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        for extension in extensions:
            builder = builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key())
        builder = builder.add_extension(identifier, critical=False)
        return builder.sign(root_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    root_id = x509.SubjectKeyIdentifier.from_public_key(root_key.public_key())
    root = folder / "root.pem"
    root.write_bytes(sign(root_name, root_key.public_key(), x509.BasicConstraints(True, None), usage, root_id))
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    served = folder / f"{name}.pem"
    served.write_bytes(
        sign(subject, key.public_key(), x509.SubjectAlternativeName([x509.DNSName(name)]))
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(served)
    return root, context


def test_certificates_are_checked_against_the_name_not_the_address(names, tmp_path, monkeypatch):
    root, context = make_certificate(tmp_path, "chat.example.org")
    names["chat.example.org"], names["other.example.org"] = [[PUBLIC]], [[PUBLIC]]
    with Server(context) as server:
        with pytest.raises(RequestError, match=r"(?i)certificate"):
            get(f"https://chat.example.org:{server.server_port}/", "*")  # an authority that nobody knows
        monkeypatch.setenv("SSL_CERT_FILE", str(root))
        assert get(f"https://chat.example.org:{server.server_port}/", "*").status_code == 200
        with pytest.raises(RequestError, match=r"(?i)certificate"):
            get(f"https://other.example.org:{server.server_port}/", "*")


# --- Time, size, cookies, many at once


@pytest.fixture
def client(site) -> Iterator[Client]:
    with open_guarded_client(f"http://127.0.0.1:{site.server_port}", allowed=["127.0.0.1"]) as client:
        yield client


def post(client: Client, url: str, seconds: float = 20.0) -> Response:
    with post_within(client, url, b"", headers={}, deadline=Deadline(seconds)) as response:
        response.read()
        return response


def test_a_server_that_never_stops_sending_is_left_at_the_deadline(client):
    with pytest.raises(TimeoutException):
        post(client, "/slow", seconds=0.5)


def test_a_deadline_can_be_brought_forward_not_put_off():
    deadline = Deadline(0)
    deadline.shorten(60)
    assert deadline.left_s == 0
    deadline = Deadline(10**9)
    deadline.shorten(0)
    assert deadline.left_s == 0


def test_an_answer_may_have_4_megabytes(client):
    assert len(post(client, f"/long?{4 * 1024 * 1024}").content) == 4 * 1024 * 1024
    with pytest.raises(TooLongError):
        post(client, f"/long?{4 * 1024 * 1024 + 1}")
    assert post(client, "/").status_code == 200


def test_no_cookie_is_kept(client):
    for _ in range(2):
        assert post(client, "/").headers["X-Cookie"] == ""


def test_one_after_the_other_they_share_a_connection(client, site):
    for _ in range(5):
        post(client, "/")
    assert site.n_connections == 1


def test_after_any_end_of_a_request_its_connection_is_free_again(site):
    url = f"http://127.0.0.1:{site.server_port}"
    with open_guarded_client(url, allowed=["127.0.0.1"], max_connections=1) as client:
        with pytest.raises(TimeoutException):
            post(client, "/slow", seconds=0.2)
        with pytest.raises(TooLongError):
            post(client, "/long?9000000")
        with pytest.raises(HostRefusedError):
            post(client, "/to?http://example.org/")
        with post_within(client, "/long?1000000", b"", headers={}, deadline=Deadline(20)):
            pass  # left unread
        assert post(client, "/").status_code == 200


def test_more_than_may_wait_at_a_time_is_a_timeout(site):
    url = f"http://127.0.0.1:{site.server_port}"
    with (
        open_guarded_client(url, allowed=["127.0.0.1"], max_connections=1) as client,
        post_within(client, "/", b"", headers={}, deadline=Deadline(20)),
        pytest.raises(TimeoutException),
    ):
        post(client, "/", seconds=0.2)


def test_150_requests_at_once_are_answered(site):
    n_threads = 150  # more than a pool of httpx has by default
    all_open = threading.Barrier(n_threads, timeout=60)

    def ask(n: int) -> int:
        with post_within(client, f"/long?{n}", b"", headers={}, deadline=Deadline(60)) as response:
            all_open.wait()  # nobody goes on until every one of them has an answer under way
            return len(response.read())

    url = f"http://127.0.0.1:{site.server_port}"
    with (
        open_guarded_client(url, allowed=["127.0.0.1"], max_connections=n_threads) as client,
        ThreadPoolExecutor(n_threads) as pool,
    ):
        assert list(pool.map(ask, range(n_threads))) == list(range(n_threads))
        assert list(pool.map(lambda n: post(client, "/").status_code, range(n_threads))) == [200] * n_threads
    assert n_threads <= site.n_connections <= 2 * n_threads
