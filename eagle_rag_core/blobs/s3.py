"""S3-compatible stores through s3fs (extra ``[s3]``).

Credentials and endpoint come from the settings or, where those are silent, from what botocore
reads: environment, shared files, the machine's role. They never reach a message or a log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eagle_rag_core.errors import ConfigError

#: Longest wait for a connection, in seconds.
_CONNECT = 10.0


@dataclass(frozen=True, slots=True)
class S3Access:
    """How a store is reached; "" leaves it to botocore.

    :param timeout: seconds for one answer of the store.
    """

    endpoint_url: str = ""
    region: str = ""
    access_key_id: str = field(default="", repr=False)
    secret_access_key: str = field(default="", repr=False)
    timeout: float = 60.0


def open_s3(access: S3Access, *, purpose: str) -> Any:
    """The file system of a store; it connects on first use.

    :param purpose: what needs it, for the message.
    :raises ConfigError: the extra is not installed.
    """
    try:
        from s3fs import S3FileSystem
    except ImportError as error:
        raise ConfigError(f"{purpose} need an extra: pip install 'eagle-rag-core[s3]'.") from error
    client = {"endpoint_url": access.endpoint_url, "region_name": access.region}
    store = S3FileSystem(
        key=access.access_key_id or None,
        secret=access.secret_access_key or None,
        client_kwargs={name: value for name, value in client.items() if value},
        config_kwargs={
            "connect_timeout": min(_CONNECT, access.timeout),
            "read_timeout": access.timeout,
            "retries": {"max_attempts": 2},
        },
        # Every look is at the store; listings kept here would hide changes.
        use_listings_cache=False,
        skip_instance_cache=True,
    )
    store.retries = 1  # botocore tries again; both together would try fifteen times
    return store


def failures() -> tuple[type[Exception], ...]:
    """What s3fs raises when a store refuses or does not answer."""
    from botocore.exceptions import (  # type: ignore[import-untyped]
        BotoCoreError,
        ClientError,
    )

    return OSError, BotoCoreError, ClientError


def is_refusal(error: Exception) -> bool:
    """Whether the store would answer somebody with other credentials."""
    from botocore.exceptions import NoCredentialsError, PartialCredentialsError

    return isinstance(error, PermissionError | NoCredentialsError | PartialCredentialsError)
