"""The certificate that simulators and evalsite share on one machine."""

import ssl

import httpx
import pytest

from simulators.server import Served
from simulators.tls import self_signed


def hello(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"hello"]


def test_who_trusts_the_certificate_is_answered_by_either_name(tmp_path):
    certificate = self_signed(tmp_path)
    with Served(hello, tls=certificate.for_server()) as served:
        assert httpx.get(served.url, verify=certificate.for_client()).text == "hello"
        by_name = f"https://localhost:{served.port}"
        assert httpx.get(by_name, verify=certificate.for_client()).text == "hello"


def test_who_does_not_trust_it_is_not(tmp_path):
    certificate, other = self_signed(tmp_path / "one"), self_signed(tmp_path / "other")
    with Served(hello, tls=certificate.for_server()) as served, pytest.raises(httpx.ConnectError):
        httpx.get(served.url, verify=other.for_client())


def test_it_is_made_once_and_again_if_it_is_spoilt(tmp_path):
    first = self_signed(tmp_path).cert.read_bytes()
    assert self_signed(tmp_path).cert.read_bytes() == first
    (tmp_path / "localhost.pem").write_text("spoilt")
    again = self_signed(tmp_path)
    assert isinstance(again.for_server(), ssl.SSLContext)
    assert again.cert.read_bytes() != first


def test_nobody_else_may_read_the_key(tmp_path):
    assert self_signed(tmp_path).key.stat().st_mode & 0o077 == 0
