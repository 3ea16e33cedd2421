"""What a token proves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from eagle_rag_core.types import Caller

#: Demanded of every caller.
TOOLS_SCOPE: Final = "eagle-rag:tools"
#: Demanded of who looks at what administrators see.
ADMIN_SCOPE: Final = "eagle-rag:admin"


@dataclass(frozen=True, slots=True)
class Verified:
    """Whose token it is and what it allows.

    :param scopes: OAuth scopes of the token.
    """

    caller: Caller
    scopes: frozenset[str]


class Verifier(Protocol):
    """Checks tokens of one kind."""

    async def verify(self, token: str) -> Verified | None:
        """What ``token`` proves; ``None`` if another verifier may know it.

        :raises Refusal: it is of this kind and not valid, or cannot be checked right now.
        """
