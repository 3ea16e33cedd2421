"""What a deployment has to tell its callers apart."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import Route

from eagle_rag_core.api.auth.refusals import invalid_token
from eagle_rag_core.api.auth.resource import Resource
from eagle_rag_core.api.auth.verified import Verified, Verifier


class Authentication:
    """Verifiers, asked in turn, and what clients need to get a token.

    :param sign_in: routes of a sign-in that this server offers, open like the metadata.
    """

    def __init__(
        self, verifiers: Sequence[Verifier], resource: Resource, sign_in: Sequence[Route] = ()
    ) -> None:
        self._verifiers = tuple(verifiers)
        self.resource = resource
        self.sign_in = tuple(sign_in)

    @property
    def routes(self) -> tuple[Route, ...]:
        """Routes that the application has because of this."""
        return (*self.resource.routes, *self.sign_in)

    async def verify(self, token: str) -> Verified:
        """Whose token it is and what it allows.

        :raises Refusal: it is not valid, or cannot be checked right now.
        """
        for verifier in self._verifiers:
            verified = await verifier.verify(token)
            if verified is not None:
                return verified
        raise invalid_token("nobody knows it")
