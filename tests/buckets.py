"""A bucket on a real server of this machine that speaks the protocol of S3, instead of the disk."""

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from django.core.files.storage import storages
from django.test import override_settings

from evalsite.lib.media import get_media

KEYS = {"access_key": "tests", "secret_key": "tests"}


@contextmanager
def running_server() -> Iterator[str]:
    """Run a server of buckets in a thread; yield its address."""
    from moto.server import ThreadedMotoServer  # it imports Flask

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    server.start()
    try:
        yield "http://{}:{}".format(*server.get_host_and_port())
    finally:
        server.stop()


class Bucket:
    """A bucket that the site keeps its files in, and what a person with its keys sees there."""

    def __init__(self, url: str) -> None:
        self.url, self.name = url, f"evalsite-{secrets.token_hex(4)}"
        session = boto3.Session(aws_access_key_id="tests", aws_secret_access_key="tests", region_name="us-east-1")
        self._client = session.client("s3", endpoint_url=url)
        self._client.create_bucket(Bucket=self.name)

    def storages(self, url: str = "", **options: Any) -> dict[str, Any]:
        """Return the setting STORAGES with this bucket, at its address or at another one."""
        given = {"bucket_name": self.name, "endpoint_url": url or self.url, "location": "site"} | KEYS | options
        default = {"BACKEND": "evalsite.lib.bucket.BucketStorage", "OPTIONS": given}
        return {**storages.backends, "default": default}

    def used(self, url: str = "") -> override_settings:
        """Have the site keep its files here within a block."""
        return override_settings(STORAGES=self.storages(url), MEDIA_BUCKET=self.name, MEDIA_ENDPOINT_URL=self.url)

    def files(self) -> dict[str, bytes]:
        """Return the content of each file."""
        found = self._client.list_objects_v2(Bucket=self.name).get("Contents", [])
        return {
            each["Key"]: self._client.get_object(Bucket=self.name, Key=each["Key"])["Body"].read() for each in found
        }

    def grants(self, name: str) -> list[Any]:
        """Return who may read a file."""
        return self._client.get_object_acl(Bucket=self.name, Key=name)["Grants"]

    def remove(self) -> None:
        """Delete everything, the bucket included."""
        for name in self.files():
            self._client.delete_object(Bucket=self.name, Key=name)
        self._client.delete_bucket(Bucket=self.name)


def sizes() -> dict[str, int]:
    """Return the name and the size of each file that the site keeps."""
    return dict(get_media().sizes())
