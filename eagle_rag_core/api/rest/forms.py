"""Files that are sent along, as ``multipart/form-data``: read piece by piece onto the disk."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from eagle_rag_core.api.rest.bodies import (
    Model,
    check_json,
    check_length,
    checked,
    malformed,
    too_large,
)

if TYPE_CHECKING:
    from eagle_rag_core.service.uploads import Upload

MEDIA_TYPE: Final = "multipart/form-data"
#: What may surround the file.
_SLACK: Final = 1 << 18
_MAX_FIELD: Final = 1 << 16
_MAX_FIELDS: Final = 80
#: Fields that may occur more than once.
_REPEATED: Final = frozenset({"tags"})
#: Fields whose text is JSON.
_AS_JSON: Final = frozenset({"metadata"})


@dataclass(frozen=True, slots=True)
class Form:
    """A form with one file.

    :param fields: the others, as JSON of their model.
    """

    upload: Upload
    fields: str

    def said(self, model: type[Model]) -> Model:
        """What the form says beside the file.

        :raises ProblemError: a field is unknown or wrong.
        """
        return checked(model, self.fields)


@asynccontextmanager
async def received(request: Request, max_bytes: int) -> AsyncIterator[Form]:
    """The form of a request; its file goes with the end of the block.

    :param max_bytes: the largest file. Nothing beyond is read.
    :raises ProblemError: it is no such form, too large, or has no file or more than one.
    """
    limit = max_bytes + _SLACK
    check_length(request, limit)
    parser = MultiPartParser(
        request.headers,
        _bounded(request, limit),
        max_files=1,
        max_fields=_MAX_FIELDS,
        max_part_size=_MAX_FIELD,
    )
    try:
        data = await parser.parse()
    except MultiPartException:
        raise malformed(
            "The form cannot be read: send one file as `file`, and short texts beside it."
        ) from None
    except ClientDisconnect:
        raise malformed("The connection ended before the body did.") from None
    try:
        yield _form(data)
    finally:
        await data.close()


async def _bounded(request: Request, limit: int) -> AsyncGenerator[bytes, None]:
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > limit:
            raise too_large(limit)
        yield piece


def _form(data: FormData) -> Form:
    from eagle_rag_core.service.uploads import Upload

    uploads = [value for _, value in data.multi_items() if isinstance(value, UploadFile)]
    texts = [(name, value) for name, value in data.multi_items() if isinstance(value, str)]
    if len(uploads) != 1 or not isinstance(data.get("file"), UploadFile):
        raise malformed("The form has no file called `file`; give it a file name, too.")
    (upload,) = uploads
    return Form(Upload(upload.filename or "", upload.file), json.dumps(_fields(texts)))


def _fields(texts: list[tuple[str, str]]) -> Mapping[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in texts:
        if name in _REPEATED:
            fields.setdefault(name, []).append(value)
        elif name in fields:
            raise malformed("The form has a field twice that may occur once.")
        elif name in _AS_JSON:
            check_json(value)
            fields[name] = json.loads(value)
        else:
            fields[name] = value
    return fields
