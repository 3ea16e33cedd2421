"""The pictures that a model which reads images is sent with a question."""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from eagle_rag_core.errors import CallTimeout, EagleError

if TYPE_CHECKING:
    from eagle_rag_core.models.llm import ChatModel
    from eagle_rag_core.query.evidence import Evidence, Show

_LOG = logging.getLogger(__name__)
#: Each costs a model about a thousand tokens.
_MOST: Final = 3
_MAX_BYTES: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures as ``data:`` URLs.

    :param of_hits: by the id of their hit.
    :param of_question: the one that came with it, "" for none.
    """

    of_hits: Mapping[str, str] = field(default_factory=dict)
    of_question: str = ""

    def __bool__(self) -> bool:
        return bool(self.of_hits or self.of_question)


NO_PICTURES: Final = Pictures()


def shown_to(model: ChatModel, evidence: Evidence, show: Show, image: bytes) -> Pictures:
    """The pictures of the best regions, as far as the model reads images.

    A region whose picture cannot be drawn is left to its words.

    :param image: the one of the question, as PNG.
    """
    if not model.reads_images:
        return NO_PICTURES
    found: dict[str, str] = {}
    for hit in evidence.found.hits:
        if len(found) == _MOST:
            break
        if hit.node_id not in evidence.regions:
            continue
        try:
            data = show(hit.node_id)
        except CallTimeout:
            raise
        except EagleError as error:
            _LOG.info("a region is not shown to the model: %s", error.message)
            continue
        if data and len(data) <= _MAX_BYTES:
            found[hit.node_id] = _url(data, "jpeg")
    return Pictures(found, _url(image, "png") if image else "")


def _url(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
