"""Checks of what a deployment talks to, and of the ports it listens on.

Everything is imported here: checks run side by side, and modules that import each other in circles
are found half made by the second of two threads that import them at once.
"""

from __future__ import annotations

import http.client
import json
import secrets
import time
from collections.abc import Iterator, Sequence
from typing import Final

from redis import Redis
from redis.exceptions import AuthenticationError, RedisError
from sqlalchemy import text

from eagle_rag_core.api.auth import configure_mcp_auth
from eagle_rag_core.api.auth.addresses import is_loopback
from eagle_rag_core.api.serving.running import bind
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.cli.checks.results import Check, Result, failed, warning, well
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import Settings
from eagle_rag_core.storage import blob_store
from eagle_rag_core.vectors.milvus.connection import MilvusConnection

#: Seconds for a service that is there, so that one that is not costs no more.
_SECONDS: Final = 5.0
_PROBE_SECONDS: Final = 2.0
_PROBE: Final = b"eagle-rag doctor"
#: Leases are seconds long; workers on several machines have to agree on what time it is.
_SKEW: Final = 5.0
_ANY_ADDRESS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}


def service_checks(settings: Settings) -> Sequence[Check]:
    """Checks of the services that the settings name, of the originals and of the ports."""
    return (
        Check("database", lambda: database(settings), needed=True),
        *_milvus_checks(settings),
        *_redis_checks(settings),
        Check("blobs", lambda: originals(settings)),
        Check("auth", lambda: authentication(settings)),
        Check(
            "port.server",
            lambda: port("server.port", settings.server.host, settings.server.port),
        ),
        Check("port.mcp", lambda: port("mcp.port", settings.mcp.host, settings.mcp.port)),
    )


def database(settings: Settings) -> Result:
    """Whether the catalog's server answers, and agrees on the time; SQLite has no server."""
    if not settings.database.url.startswith("postgresql"):
        return well("SQLite")
    catalog = Catalog(settings.database.url, namespace=settings.namespace)
    try:
        with catalog.read() as conn:
            there = conn.scalar(text("SELECT extract(epoch FROM clock_timestamp())"))
    finally:
        catalog.close()
    if abs(float(there or 0) - time.time()) > _SKEW:
        return warning(
            "PostgreSQL answers, and its clock differs from that of this machine.",
            "Synchronise the clocks (NTP): leases of jobs are measured by them.",
        )
    return well("PostgreSQL answers.")


def _milvus_checks(settings: Settings) -> Iterator[Check]:
    uri = settings.milvus.uri
    # An embedded file admits one process; opening the library says whether it can be had.
    if uri and not uri.endswith(".db"):
        import pymilvus  # noqa: F401  # seconds, which only those pay who use it

        yield Check("milvus", lambda: milvus(settings), needed=True)


def milvus(settings: Settings) -> Result:
    wanted = settings.milvus
    connection = MilvusConnection(
        wanted.uri,
        wanted.token.get_secret_value(),
        wanted.db_prefix + settings.namespace,
        _SECONDS,
    )
    try:
        with connection.client() as client:
            return well(f"Milvus {client.get_server_version()} answers.")
    finally:
        connection.close()


def _redis_checks(settings: Settings) -> Iterator[Check]:
    broker, shared = settings.celery.broker_url, settings.mcp.redis_url
    if broker:
        yield Check("redis.celery", lambda: redis("celery.broker_url", broker))
    if shared and shared != broker:
        yield Check("redis.mcp", lambda: redis("mcp.redis_url", shared))


def redis(setting: str, url: str) -> Result:
    """Whether a Redis answers; what it says of a refusal may repeat the password."""
    try:
        client = Redis.from_url(url, socket_connect_timeout=_SECONDS, socket_timeout=_SECONDS)
    except ValueError:
        return failed(f"{setting} is no URL of Redis.", "Write redis://host:6379/0.")
    try:
        client.ping()
    except AuthenticationError:
        return failed("Redis refuses the password.", f"Check the user and password in {setting}.")
    except (RedisError, OSError) as error:
        return failed(
            f"Redis does not answer ({type(error).__name__}).",
            f"Start it, or check the address in {setting}.",
        )
    finally:
        client.close()
    return well("Redis answers.")


def originals(settings: Settings) -> Result:
    """Whether a file can be stored, read and removed again."""
    if not (settings.blobs.url or settings.home.exists()):
        return well("They will be kept in the home.")
    blobs = blob_store(settings)
    blobs.check()
    key = secrets.token_hex(32)  # of the form that they have; should it be left, it is an orphan
    blobs.put(key, _PROBE)
    try:
        if blobs.get(key) != _PROBE:
            return failed("What was stored comes back changed.", "Check the store of blobs.url.")
    finally:
        blobs.delete(key)
    return well("Originals can be stored and read.")


def authentication(settings: Settings) -> Result:
    """Whether the servers would start with these settings, and whom they would serve."""
    hosts = {settings.server.host, settings.mcp.host}
    exposed = sorted(host for host in hosts if not is_loopback(host))
    if configure_mcp_auth(settings) is not None:
        return well(f"Callers over HTTP need a token ({settings.mcp.auth_provider}).")
    if not exposed:
        return well("Off; only this machine is served.")
    if not settings.auth.allow_anonymous:
        raise ConfigError(
            f"A server on {exposed[0]} would not start: everybody could call it. Set auth.enabled."
        )
    return warning(
        f"Everybody who reaches {exposed[0]} is served (auth.allow_anonymous).",
        "Set auth.enabled, unless the network itself is trusted.",
    )


def port(setting: str, host: str, number: int) -> Result:
    """Whether a server could listen, or does."""
    if not number:
        return well("Any free one.")
    try:
        bind(host, number).close()
    except ConfigError as error:
        if _is_ours(host, number):
            return well(f"{number}: a server of eagle-rag answers there.")
        return warning(error.message, f"End what uses it, or set {setting} to another.")
    return well(f"{number} is free.")


def _is_ours(host: str, number: int) -> bool:
    address = _ANY_ADDRESS.get(host, host)
    connection = http.client.HTTPConnection(address, number, timeout=_PROBE_SECONDS)
    try:
        connection.request("GET", "/health/live")
        answer = connection.getresponse()
        return answer.status == 200 and json.loads(answer.read(1000)) == {"status": "ok"}
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        connection.close()
