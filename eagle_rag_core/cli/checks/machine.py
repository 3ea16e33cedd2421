"""Checks of the machine: Python, clock, disk, and who can read what is secret."""

from __future__ import annotations

import os
import platform
import shutil
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from eagle_rag_core.cli.checks.results import Check, Result, failed, warning, well
from eagle_rag_core.settings import Settings
from eagle_rag_core.settings.masking import has_password, is_secret_name
from eagle_rag_core.settings.yaml_text import parse

#: The newest Python that releases are tested with.
_NEWEST_TESTED: Final = (3, 13)
_OLDEST: Final = (3, 11)
#: Before this the package did not exist.
_LONG_AGO: Final = datetime(2025, 1, 1, tzinfo=UTC).timestamp()
#: Seconds that files may seem to come from the future.
_TOLERATED: Final = 300.0
_MEGABYTE: Final = 1 << 20
_LITTLE: Final = 1024 * _MEGABYTE
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def machine_checks(settings: Settings, config: Path | None) -> Sequence[Check]:
    """Checks that open nothing.

    :param config: the configuration file, if there is one.
    """
    home = settings.home
    return (
        Check("python", lambda: python(sys.version_info[:3])),
        Check("clock", lambda: clock(home, time.time())),
        Check("home", lambda: home_folder(settings), needed=True),
        Check("disk", lambda: disk(home)),
        Check("permissions", lambda: permissions(settings, config)),
    )


def python(version: tuple[int, ...]) -> Result:
    name = f"{platform.python_implementation()} {'.'.join(map(str, version))}"
    if version[:2] < _OLDEST:
        return failed(f"{name} is too old.", "Install eagle-rag-core with Python 3.11 or newer.")
    if version[:2] > _NEWEST_TESTED:
        return warning(f"{name} is newer than what releases are tested with.", "Use Python 3.13.")
    return well(name)


def clock(home: Path, now: float) -> Result:
    """Leases, schedules and expiry dates trust the clock of the machine."""
    remedy = "Set the clock of this machine; time synchronisation (NTP) keeps it right."
    if now < _LONG_AGO:
        return failed("The clock of this machine is years behind.", remedy)
    ahead = max((path.stat().st_mtime - now for path in _files_of(home)), default=0.0)
    if ahead > _TOLERATED:
        return warning("The library was changed later than the clock says it is now.", remedy)
    return well(f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M} UTC")


def home_folder(settings: Settings) -> Result:
    home = settings.home
    if not home.exists():
        if settings.database.url:
            return well(f"{home} will be created.")
        return failed(
            "There is no library at this home yet.",
            "Name another by --home, or begin one with `eagle-rag ingest`.",
        )
    if not (home.is_dir() and os.access(home, os.W_OK | os.X_OK)):
        return failed(f"Nothing can be written to {home}.", "Check its rights.")
    return well(str(home))


def disk(home: Path) -> Result:
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    detail = f"{free / _LITTLE:.1f} GB are free at the home."
    remedy = "Free space, or move the home: vectors and originals grow with every document."
    if free < _MEGABYTE:
        return failed("The disk of the home is full.", remedy)
    return warning(detail, remedy) if free < _LITTLE else well(detail)


def permissions(settings: Settings, config: Path | None) -> Result:
    """Whether other users of the machine can read what is secret."""
    if os.name != "posix":
        return well("Not looked at on this system.")
    secret = [token.token_file for token in settings.auth.tokens if token.token_file]
    secret.append(settings.home / "catalog.db")
    if config is not None and holds_secrets(config):
        secret.append(config)
    readable = [path for path in secret if path.exists() and path.stat().st_mode & _OTHERS]
    if readable:
        listed = ", ".join(map(str, readable))
        return warning(f"Other users of this machine can read {listed}.", f"chmod 600 {listed}")
    return well("No secret can be read by other users of this machine.")


def holds_secrets(config: Path) -> bool:
    """Whether a secret is written into a configuration file, rather than referred to."""
    content = parse(config.read_text("utf-8"), config)
    return any(
        isinstance(value, str)
        and value
        and not value.startswith("${")
        and (is_secret_name(name) or has_password(value))
        for name, value in _values("", content)
    )


def _values(name: str, node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _values(str(key), value)
    elif isinstance(node, list):
        for value in node:
            yield from _values(name, value)
    else:
        yield name, node


def _files_of(home: Path) -> list[Path]:
    names = ("catalog.db", "catalog.db-wal", "audit.db")
    return [path for name in names if (path := home / name).exists()]
