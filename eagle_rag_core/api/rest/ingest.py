"""``/ingest``: taking in sources and files, and asking what would happen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse
from pydantic import Field
from typing_extensions import TypedDict

from eagle_rag_core.api.rest import forms
from eagle_rag_core.api.rest.bodies import is_json, json_body, media_type, wrong_type
from eagle_rag_core.api.rest.calling import CallerOf, Rest
from eagle_rag_core.api.rest.inputs import Described, given
from eagle_rag_core.api.rest.openapi import answers, body_or_file
from eagle_rag_core.api.rest.problems import STATUS, HttpCode
from eagle_rag_core.api.rest.shapes import JOB
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.service import Services
from eagle_rag_core.tools import results as r
from eagle_rag_core.types import Caller, IngestRequest, JobStatus

if TYPE_CHECKING:
    from eagle_rag_core.service.ingest import Forecast

#: Seconds to store a large upload.
_UPLOAD_SECONDS: Final = 300.0
_REFUSALS: Final = (
    HttpCode.MALFORMED_REQUEST,
    ErrorCode.INVALID_ARGUMENT,
    ErrorCode.UNKNOWN_ARGUMENT,
    HttpCode.UNSUPPORTED_MEDIA_TYPE,
    ErrorCode.UNSUPPORTED_FORMAT,
    HttpCode.REQUEST_TOO_LARGE,
    ErrorCode.SOURCE_TOO_LARGE,
    ErrorCode.PATH_NOT_ALLOWED,
    ErrorCode.SOURCE_NOT_FOUND,
    ErrorCode.KB_NOT_FOUND,
    ErrorCode.OVERLOADED,
)


class SourceRequest(Described):
    """A source to take in: a file in an allowed folder, or an address on the web."""

    source_uri: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4096,
            description="Path of a file in an allowed folder, or an http(s) URL.",
        ),
    ]


class ForecastResult(TypedDict):
    outcome: Annotated[
        str,
        Field(description="new, replace, unchanged, refetch (known once fetched) or refused."),
    ]
    document_id: Annotated[str, Field(description="Of the document; empty when refused.")]
    kb_name: Annotated[str, Field(description="Where it would go; empty when refused.")]
    source_uri: Annotated[str, Field(description="Canonical; empty when refused.")]
    code: Annotated[str, Field(description="Why it is refused; empty otherwise.")]
    detail: Annotated[str, Field(description="What to do about that; empty otherwise.")]


_SOURCE: Final = {"source_uri": "https://example.org/otters.pdf", "tags": ["mammals"]}
_FORM: Final = {"file": "(bytes of otters.pdf)", "kb_name": "biology", "tags": ["mammals"]}
_QUEUED: Final = {
    "job_id": JOB["job_id"],
    "status": "queued",
    "document_id": JOB["document_id"],
    "dedup_hit": False,
}
_NEW: Final = {
    "outcome": "new",
    "document_id": JOB["document_id"],
    "kb_name": "biology",
    "source_uri": "upload:otters.pdf",
    "code": "",
    "detail": "",
}


def ingest_router(rest: Rest) -> APIRouter:
    router = APIRouter(tags=["ingest"])
    taken = body_or_file(SourceRequest, _SOURCE, Described, _FORM)

    @router.post(
        "/ingest",
        operation_id="ingest",
        summary="Add a document",
        status_code=202,
        response_model=r.IngestResult,
        responses={
            **answers(
                _QUEUED,
                *_REFUSALS,
                ErrorCode.FORBIDDEN,
                status=202,
                description="A job does the rest.",
                headers={"Location": "Where the job is."},
            ),
            **answers(
                _QUEUED | {"status": "succeeded", "dedup_hit": True},
                description="The same content was indexed already.",
                model=r.IngestResult,
            ),
        },
        openapi_extra=taken,
        dependencies=[Depends(rest.check_writable)],
    )
    async def ingest(request: Request, caller: CallerOf) -> JSONResponse:
        """Name a source as JSON, or send a file as `multipart/form-data`.

        A source that was added before, or a file of the same name in the same knowledge base,
        replaces its document. Once the job has succeeded the document can be searched.
        """
        if is_json(request):
            source = await json_body(SourceRequest)(request)
            result = await rest.call("core_ingest", given(source), caller)
        else:
            result = await _with_form(rest, request, caller, "ingest", _submit)
        status = 202 if not JobStatus(result["status"]).final else 200
        headers = {"Location": f"/jobs/{result['job_id']}"}
        return JSONResponse(result, status_code=status, headers=headers)

    @router.post(
        "/ingest/validate",
        operation_id="validateIngest",
        summary="What adding a document would do",
        response_model=ForecastResult,
        responses=answers(_NEW, *_REFUSALS),
        openapi_extra=taken,
    )
    async def validate(request: Request, caller: CallerOf) -> JSONResponse:
        """Takes the same as `/ingest`. Nothing is written, and nothing is fetched from elsewhere;
        a file in an allowed folder is read. What would be refused is no error here."""
        if is_json(request):
            source = await json_body(SourceRequest)(request)
            result = await rest.perform(
                "validate_ingest",
                _foretelling(
                    lambda services, who: rest.named(
                        who, services.ingest.foresee(who, _asked(source, source.source_uri))
                    )
                ),
                caller,
                arguments=given(source),
            )
        else:
            result = await _with_form(rest, request, caller, "validate_ingest", _foresee)
        return JSONResponse(result)

    return router


_Doing = Callable[[Services, Caller, Described, forms.Form], Any]


async def _with_form(
    rest: Rest, request: Request, caller: Caller, operation: str, do: _Doing
) -> Any:
    """Do something with the file of a form."""
    if media_type(request) != forms.MEDIA_TYPE:
        raise wrong_type("application/json", forms.MEDIA_TYPE)
    async with forms.received(request, rest.app.settings.ingest.max_bytes) as form:
        said = form.said(Described)
        return await rest.perform(
            operation,
            lambda services, who: do(services, who, said, form),
            caller,
            arguments={"file": form.upload.name, **given(said)},
            reads=do is _foresee,
            seconds=_UPLOAD_SECONDS,
        )


def _submit(services: Services, caller: Caller, said: Described, form: forms.Form) -> Any:
    return r.ingest_result(services.uploads.submit(caller, _asked(said), form.upload))


def _foresee(services: Services, caller: Caller, said: Described, form: forms.Form) -> Any:
    def foretell(services: Services, caller: Caller) -> Forecast:
        return services.uploads.foresee(caller, _asked(said), form.upload)

    return _foretelling(foretell)(services, caller)


def _asked(said: Described, source_uri: str = "") -> IngestRequest:
    return IngestRequest(
        source_uri=source_uri,
        kb_name=said.kb_name,
        source_type=said.source_type,
        title=said.title,
        tags=tuple(said.tags),
        metadata=said.metadata,
    )


def _foretelling(
    foretell: Callable[[Services, Caller], Forecast],
) -> Callable[[Services, Caller], ForecastResult]:
    """A forecast, which a refusal of the source is, too."""

    def run(services: Services, caller: Caller) -> ForecastResult:
        try:
            forecast = foretell(services, caller)
        except EagleError as error:
            if STATUS[error.code] >= 500:
                raise
            return _forecast("refused", code=error.code, detail=error.message)
        return _forecast(
            forecast.outcome, forecast.document_id, forecast.kb_name, forecast.source_uri
        )

    return run


def _forecast(
    outcome: str,
    document_id: str = "",
    kb_name: str = "",
    source_uri: str = "",
    code: str = "",
    detail: str = "",
) -> ForecastResult:
    return {
        "outcome": str(outcome),
        "document_id": document_id,
        "kb_name": kb_name,
        "source_uri": source_uri,
        "code": str(code),
        "detail": detail,
    }
