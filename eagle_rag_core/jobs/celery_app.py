"""Celery on Redis, set up to carry tickets and to keep no truth of its own."""

from __future__ import annotations

import logging
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from eagle_rag_core.errors import ConfigError, StorageError
from eagle_rag_core.jobs.tickets import TASK, Ticket, queue_name

if TYPE_CHECKING:
    from celery import Celery

_LOG = logging.getLogger(__name__)
#: An absent broker is noticed after so long.
_CONNECT_SECONDS = 2.0


def check_broker(broker_url: str) -> None:
    """Make sure that the setting can be used; the broker itself may be away.

    :raises ConfigError: Celery is not installed, or the URL is not one of Redis.
    """
    if not broker_url.startswith(("redis://", "rediss://", "redis+socket://")):
        raise ConfigError("celery.broker_url must be a Redis URL, e.g. redis://127.0.0.1:6379/0.")
    if find_spec("celery") is None:
        raise ConfigError(
            "celery.broker_url is set, but Celery is not installed; "
            'install it with pip install "eagle-rag-core[celery]".'
        )


def celery_app(broker_url: str) -> Celery:
    """The Celery application of a broker.

    :raises ConfigError: see :func:`check_broker`.
    """
    check_broker(broker_url)
    from celery import Celery

    app = Celery("eagle_rag", broker=broker_url, set_as_current=False)
    app.conf.update(
        # Only data is ever read from the broker, and nothing is stored there.
        task_serializer="json",
        accept_content=["json"],
        result_backend=None,
        task_ignore_result=True,
        worker_enable_remote_control=False,
        # A ticket stays until its job is over. When it comes back meanwhile, the job is not free.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        broker_connection_retry_on_startup=True,
        broker_connection_timeout=_CONNECT_SECONDS,
        broker_transport_options={
            "socket_connect_timeout": _CONNECT_SECONDS,
            "queue_order_strategy": "priority",
        },
        task_publish_retry=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
    )
    return app


class CelerySender:
    """Puts tickets into the queue of one pipeline."""

    def __init__(self, broker_url: str, namespace: str, fingerprint: str) -> None:
        check_broker(broker_url)
        self._broker_url = broker_url
        self._namespace = namespace
        self._fingerprint = fingerprint
        self._queue = queue_name(namespace, fingerprint)

    @cached_property
    def _app(self) -> Celery:
        # Celery takes long to import; the first ticket is early enough.
        return celery_app(self._broker_url)

    def send(self, job_id: str, priority: int) -> None:
        """Send the ticket of a job.

        :raises StorageError: the broker cannot be reached.
        """
        ticket = Ticket(job_id, self._namespace, self._fingerprint)
        try:
            self._app.send_task(
                TASK,
                kwargs=ticket.as_dict(),
                queue=self._queue,
                priority=_broker_priority(priority),
                retry=False,
                ignore_result=True,
            )
        except Exception as error:
            raise _unreachable(error) from error

    def backlog(self) -> int:
        """Tickets that no worker has taken yet.

        :raises StorageError: the broker cannot be reached.
        """
        try:
            with self._app.connection_for_write() as connection:
                declared = connection.default_channel.queue_declare(self._queue)
                return int(declared.message_count)
        except Exception as error:
            raise _unreachable(error) from error

    def close(self) -> None:
        """Give up the connections."""
        if "_app" in self.__dict__:
            self._app.close()


def _broker_priority(priority: int) -> int:
    """Redis queues come in steps of three, the lowest number first."""
    return max(0, min(9, 3 + 3 * priority // 10))


def _unreachable(error: Exception) -> StorageError:
    _LOG.debug("Broker", exc_info=error)
    return StorageError(
        f"The broker (celery.broker_url) cannot be reached ({type(error).__name__})."
    )
