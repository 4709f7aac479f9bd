"""How gunicorn serves the site: `gunicorn --config python:evalsite.gunicorn_conf`. Its own options go before these.

WEB_CONCURRENCY is the number of processes: one, because the jobs run in it; more where REDIS_URL is set.
"""

from pathlib import Path

from gunicorn.config import Config
from gunicorn.glogging import Logger

from evalsite.lib.env import env_int
from evalsite.lib.masking import MaskingFormatter


class MaskingLogger(Logger):
    """Gunicorn's logs of requests and errors, without the tokens in addresses and referrers."""

    def setup(self, cfg: Config) -> None:
        """Put the mask around the formatters that gunicorn has chosen."""
        super().setup(cfg)
        for handler in self.error_log.handlers + self.access_log.handlers:
            if not isinstance(handler.formatter, MaskingFormatter):
                handler.setFormatter(MaskingFormatter(inner=handler.formatter))


wsgi_app = "evalsite.wsgi:application"
bind = "0.0.0.0:8000"
# A chat that waits for its chatbot's reply holds a thread: more of them than CHATS_AT_ONCE (its default is that of
# settings.py), or nobody else is answered. They share the database connections of DATABASE_POOL.
threads = env_int("CHATS_AT_ONCE", 48) + 16
accesslog = "-"
logger_class = MaskingLogger
# Newer versions would put a socket for gunicornc into the home folder, which is the data's in the image.
control_socket_disable = True
# In a container /tmp may be a disk, which gunicorn's heartbeat would wait for.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None
