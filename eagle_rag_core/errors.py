"""The error tree: one stable code per kind of failure.

A caller sees :attr:`EagleError.code` and :attr:`EagleError.message`, never a traceback.
Messages are written here by us and say what to do; text of foreign exceptions stays in the log.
"""

from __future__ import annotations

from enum import StrEnum


class ErrorCode(StrEnum):
    """Stable, machine-readable reasons. Values are part of the public contract."""

    INVALID_ARGUMENT = "invalid_argument"
    UNKNOWN_ARGUMENT = "unknown_argument"
    TOOL_NOT_FOUND = "tool_not_found"
    KB_NOT_FOUND = "kb_not_found"
    DOCUMENT_NOT_FOUND = "document_not_found"
    SECTION_NOT_FOUND = "section_not_found"
    JOB_NOT_FOUND = "job_not_found"
    UNAUTHENTICATED = "unauthenticated"
    AUTH_UNAVAILABLE = "auth_unavailable"
    FORBIDDEN = "forbidden"
    PATH_NOT_ALLOWED = "path_not_allowed"
    URL_NOT_ALLOWED = "url_not_allowed"
    SOURCE_NOT_FOUND = "source_not_found"
    SOURCE_UNREADABLE = "source_unreadable"
    SOURCE_TOO_LARGE = "source_too_large"
    FETCH_FAILED = "fetch_failed"
    UNSUPPORTED_FORMAT = "unsupported_format"
    PARSE_FAILED = "parse_failed"
    EMPTY_DOCUMENT = "empty_document"
    NEEDS_OCR = "needs_ocr"
    MODE_UNAVAILABLE = "mode_unavailable"
    TIMEOUT = "timeout"
    OVERLOADED = "overloaded"
    CIRCUIT_OPEN = "circuit_open"
    CANCELLED = "cancelled"
    CONFIG_INVALID = "config_invalid"
    PLUGIN_FAILED = "plugin_failed"
    LOCK_MISMATCH = "lock_mismatch"
    GUARD_REFUSED = "guard_refused"
    EFFECT_REFUSED = "effect_refused"
    MODEL_UNAVAILABLE = "model_unavailable"
    EMBEDDER_MISMATCH = "embedder_mismatch"
    STORAGE_UNAVAILABLE = "storage_unavailable"
    LEASE_LOST = "lease_lost"
    INTERNAL = "internal"


class EagleError(Exception):
    """Base of every error that may reach a caller.

    :param message: one or two sentences for the caller: what is wrong, what to do.
    :param code: overrides the class's :attr:`default_code`.
    :param retryable: whether the same call may succeed later.
    :param retry_after_s: seconds to wait before trying again, 0 when unknown.
    """

    default_code: ErrorCode = ErrorCode.INTERNAL
    default_retryable: bool = False

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | None = None,
        retryable: bool | None = None,
        retry_after_s: float = 0.0,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.retryable = self.default_retryable if retryable is None else retryable
        self.retry_after_s = retry_after_s


class InvalidArgument(EagleError):
    """The caller's input is wrong; repeating the call cannot help."""

    default_code = ErrorCode.INVALID_ARGUMENT


class NotFound(EagleError):
    """A knowledge base, document or job that does not exist, or that the caller may not see."""

    default_code = ErrorCode.DOCUMENT_NOT_FOUND


class IngestError(EagleError):
    """A source cannot become a document. The job fails with this reason; nothing is indexed."""

    default_code = ErrorCode.PARSE_FAILED


class FetchError(IngestError):
    """A source cannot be read or fetched."""

    default_code = ErrorCode.FETCH_FAILED


class ConfigError(EagleError):
    """The deployment is misconfigured; the process refuses to start."""

    default_code = ErrorCode.CONFIG_INVALID


class PluginError(EagleError):
    """A domain pack broke a rule of the framework."""

    default_code = ErrorCode.PLUGIN_FAILED


class GuardError(PluginError):
    """A tool's name or text was refused by the retrieval-only guard."""

    default_code = ErrorCode.GUARD_REFUSED


class EffectRefused(PluginError):
    """A pack's tool tried to do something besides answering; it was stopped before it happened."""

    default_code = ErrorCode.EFFECT_REFUSED


class ModelError(EagleError):
    """A model is missing or does not match what the index was built with."""

    default_code = ErrorCode.MODEL_UNAVAILABLE


class StorageError(EagleError):
    """The catalog, the vector store or the blob store cannot be used right now."""

    default_code = ErrorCode.STORAGE_UNAVAILABLE
    default_retryable = True


class CallTimeout(EagleError):
    """The call did not finish within its deadline."""

    default_code = ErrorCode.TIMEOUT
    default_retryable = True


class LeaseLost(EagleError):
    """Another worker took over the job; this worker's result is discarded."""

    default_code = ErrorCode.LEASE_LOST
    default_retryable = True
