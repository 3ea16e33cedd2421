"""Where catalog, vectors, originals and jobs are kept."""

from __future__ import annotations

from pydantic import Field, SecretStr

from eagle_rag_core.settings.sections.base import Section


class MilvusSettings(Section):
    uri: str = Field("", description="Milvus URI or Lite file; empty selects the local backend.")
    token: SecretStr = Field(SecretStr(""), description="Milvus token.")
    db_prefix: str = Field(
        "",
        pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$",
        description="Prefix of the database name of each namespace.",
    )


class DatabaseSettings(Section):
    url: str = Field(
        "",
        description="sqlite:///<file> or postgresql://<user>@<host>/<database> (extra "
        "`[postgres]`); empty = sqlite:///<home>/catalog.db.",
    )


class S3Settings(Section):
    endpoint_url: str = Field(
        "", description="S3-compatible store; empty = botocore's own (AWS_ENDPOINT_URL, AWS)."
    )
    region: str = Field("", description="Region; empty = botocore's own.")
    access_key_id: str = Field("", description="Key; empty = environment, shared files, role.")
    secret_access_key: SecretStr = Field(SecretStr(""), description="Secret of that key.")


class BlobSettings(S3Settings):
    url: str = Field(
        "",
        description="Where originals are kept: file:///folder or s3://bucket/prefix (of this "
        "catalog alone); empty = <home>/blobs.",
    )
    timeout: float = Field(30.0, gt=0, description="Seconds for one answer of an S3 store.")


class CelerySettings(Section):
    broker_url: str = Field("", description="Redis URL of a Celery broker; empty = no Celery.")
