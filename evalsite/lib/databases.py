"""How the threads of a process share connections to PostgreSQL."""

from typing import Any

_TIMEOUT_S = 20
_RECONNECT_S = 3


def pool_options(max_size: int) -> dict[str, Any]:
    """Return the options of a pool, which a request waits for at most 20 s.

    Attempts to connect begin anew every 3 s: by default the pauses between them grow with the time for which PostgreSQL
    is away, up to minutes, and the site would be away for twice as long.
    """
    from psycopg_pool import ConnectionPool

    return {
        "min_size": 1,
        "max_size": max_size,
        "timeout": _TIMEOUT_S,
        "reconnect_timeout": _RECONNECT_S,
        "reconnect_failed": ConnectionPool.check,  # which begins another attempt, if there is no connection
    }
