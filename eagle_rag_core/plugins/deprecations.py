"""Warnings for authors of packs about what the pack API will lose.

Nothing is removed within a major version of the API. What the next one removes warns first, for
at least two minor releases of the core, with the class of the version that removes it.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

logger = logging.getLogger(__name__)


class PackApiWarning(DeprecationWarning):
    """A pack uses something that a later version of the pack API does not have."""


class RemovedInPackApi2(PackApiWarning):
    """It is gone in pack API 2.0."""


@contextmanager
def naming_the_pack(namespace: str) -> Iterator[None]:
    """Log each :class:`PackApiWarning` of the block with the pack that caused it.

    Python hides deprecations of code that is not run as a script, and their text cannot tell
    operators which pack to upgrade. Other warnings pass.
    """
    with warnings.catch_warnings(record=True) as caught:
        # Every one, whatever -W says; a test run that makes warnings errors still sees them.
        warnings.simplefilter("always", PackApiWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, PackApiWarning):
            logger.warning("Pack %s: %s", namespace, warning.message)
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
