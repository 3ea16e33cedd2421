"""``/jobs``: looking after ingest jobs, and following one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import Field

from eagle_rag_core.api.rest.calling import CallerOf, Rest
from eagle_rag_core.api.rest.events import EventStream, event, with_heartbeats
from eagle_rag_core.api.rest.inputs import JobIdPath, KbName, Page
from eagle_rag_core.api.rest.openapi import answers
from eagle_rag_core.api.rest.problems import ProblemError
from eagle_rag_core.api.rest.shapes import JOB, JobItem, JobPage, job_item
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.types import Caller, Job, JobStatus

#: A stream looks at its job so often; longer and longer while nothing happens.
_SHORTEST_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 2.0
_DONE: Final = {**JOB, "status": "succeeded", "stage": "", "progress": 1.0}
_EVENTS: Final = "".join(
    event(name, job).decode() for name, job in (("progress", JOB), ("done", _DONE))
)


class JobListing(Page):
    """Which jobs to list."""

    kb_name: KbName = ""
    status: Annotated[
        tuple[JobStatus, ...], Field(max_length=6, description="Only those; none = all.")
    ] = ()
    dead: Annotated[bool, Field(description="Only those that are not tried again.")] = False


def jobs_router(rest: Rest) -> APIRouter:
    router = APIRouter(tags=["ingest"])

    def show(job: Job, caller: Caller) -> JobItem:
        return job_item(rest.named(caller, job))

    @router.get(
        "/jobs",
        operation_id="listJobs",
        summary="List jobs",
        response_model=JobPage,
        responses=answers({"items": [JOB], "next_cursor": ""}, ErrorCode.INVALID_ARGUMENT),
    )
    async def list_jobs(listing: Annotated[JobListing, Query()], caller: CallerOf) -> JSONResponse:
        """The newest jobs of the knowledge bases you may read come first."""
        jobs, following = await rest.perform(
            "list_jobs",
            lambda services, who: services.jobs.page(
                who,
                statuses=listing.status,
                kb_name=listing.kb_name,
                dead=listing.dead,
                limit=listing.limit,
                cursor=listing.cursor,
            ),
            caller,
            arguments=listing.model_dump(mode="json", exclude_unset=True),
        )
        return JSONResponse(
            {"items": [show(job, caller) for job in jobs], "next_cursor": following}
        )

    @router.get(
        "/jobs/{job_id}",
        operation_id="getJob",
        summary="State of a job",
        response_model=JobItem,
        responses=answers(JOB, ErrorCode.JOB_NOT_FOUND),
    )
    async def get_job(job_id: JobIdPath, caller: CallerOf) -> JSONResponse:
        """Its status, stage and progress, and the reason when it failed."""
        return JSONResponse(show(await _get(rest, "get_job", job_id, caller), caller))

    @router.get(
        "/jobs/{job_id}/events",
        operation_id="followJob",
        summary="Follow a job",
        response_class=EventStream,
        status_code=200,
        responses=answers(
            _EVENTS,
            ErrorCode.JOB_NOT_FOUND,
            ErrorCode.OVERLOADED,
            media_type=EventStream.media_type,
        ),
    )
    async def follow_job(job_id: JobIdPath, caller: CallerOf) -> EventStream:
        """Server-sent events: `progress` whenever the job has changed, `done` when it is over,
        each with the job as data; `error` with a problem if that cannot be told any more."""
        rest.streams.check()
        job = await _get(rest, "follow_job", job_id, caller)
        return EventStream(with_heartbeats(_progress(rest, job, caller)))

    @router.post(
        "/jobs/{job_id}/cancel",
        operation_id="cancelJob",
        summary="Cancel a job",
        response_model=JobItem,
        responses=answers(
            {**JOB, "status": "cancelled"}, ErrorCode.JOB_NOT_FOUND, ErrorCode.FORBIDDEN
        ),
        dependencies=[Depends(rest.check_writable)],
    )
    async def cancel_job(job_id: JobIdPath, caller: CallerOf) -> JSONResponse:
        """A running one stops within seconds and publishes nothing; one that is over stays as it
        is."""
        job = await rest.perform(
            "cancel_job",
            lambda services, who: services.jobs.cancel(who, job_id),
            caller,
            arguments={"job_id": job_id},
            reads=False,
        )
        return JSONResponse(show(job, caller))

    @router.post(
        "/jobs/{job_id}/retry",
        operation_id="retryJob",
        summary="Try a job again",
        response_model=JobItem,
        responses=answers(
            {**JOB, "status": "queued"},
            ErrorCode.JOB_NOT_FOUND,
            ErrorCode.FORBIDDEN,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.OVERLOADED,
        ),
        dependencies=[Depends(rest.check_writable)],
    )
    async def retry_job(job_id: JobIdPath, caller: CallerOf) -> JSONResponse:
        """Queue a job once more that failed or was cancelled."""
        job = await rest.perform(
            "retry_job",
            lambda services, who: services.jobs.retry(who, job_id),
            caller,
            arguments={"job_id": job_id},
            reads=False,
        )
        return JSONResponse(show(job, caller))

    return router


async def _get(rest: Rest, operation: str, job_id: str, caller: Caller) -> Job:
    job = await rest.perform(
        operation,
        lambda services, who: services.jobs.get(who, job_id),
        caller,
        arguments={"job_id": job_id},
    )
    assert isinstance(job, Job)
    return job


async def _progress(rest: Rest, job: Job, caller: Caller) -> AsyncIterator[bytes]:
    """A job's changes, beginning with its state now."""
    shown: Any = None
    pause = _SHORTEST_PAUSE
    with rest.streams.one_more():
        while True:
            item = job_item(rest.named(caller, job))
            if item != shown:
                shown, pause = item, _SHORTEST_PAUSE
                yield event("done" if job.status.final else "progress", item)
            if job.status.final or rest.streams.ending:
                return
            await asyncio.sleep(pause)
            pause = min(pause * 1.3, _LONGEST_PAUSE)
            try:
                job = await run_in_threadpool(rest.app.services().jobs.get, caller, job.job_id)
            except EagleError as error:
                yield event("error", ProblemError.of_error(error).logged().model_dump())
                return
