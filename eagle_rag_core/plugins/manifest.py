"""The manifest ``eagle-pack.toml``: what a pack declares before any of its code runs.

Field descriptions are the documentation of the format.
"""

from __future__ import annotations

import tomllib
from typing import Annotated, Any, Final, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.namespaces import namespace_problem

#: Name of the file, in the folder of the pack's top-level package.
MANIFEST_NAME: Final = "eagle-pack.toml"

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$", max_length=60)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PackTable(_Table):
    """``[pack]``: what the pack is."""

    namespace: str = Field(description="Namespace; equal to the name of the entry point.")
    title: str = Field(min_length=1, max_length=80, description="Name for people.")
    api: str = Field(
        description='Versions of the pack API it works with, e.g. ">=1.0,<2"; checked before '
        "any of its code is imported."
    )
    options: str = Field(
        "",
        description="Pydantic model of plugins.options.<namespace>, as package.module:Class; "
        "imported only when the pack is active.",
    )

    @field_validator("namespace")
    @classmethod
    def _check_namespace(cls, value: str) -> str:
        if problem := namespace_problem(value):
            raise ValueError(problem)
        return value

    @field_validator("api")
    @classmethod
    def _check_api(cls, value: str) -> str:
        try:
            empty = not SpecifierSet(value)
        except InvalidSpecifier:
            empty = True
        if empty:
            raise ValueError('api must be a version specifier such as ">=1.0,<2".')
        return value

    @field_validator("options")
    @classmethod
    def _check_options(cls, value: str) -> str:
        module, colon, attribute = value.partition(":")
        if value and not (colon and attribute.isidentifier() and module):
            raise ValueError('options must be written "package.module:Class".')
        return value


class ToolDeclaration(_Table):
    """``[[tools]]``: a tool the pack registers, no more and no fewer."""

    name: Name = Field(description="Name without the namespace.")
    effect: Literal["read"] = Field(
        description='What a call changes. "read" is the only effect a pack may have.'
    )
    summary: str = Field(min_length=1, max_length=200, description="One sentence for listings.")


class RecordField(_Table):
    """A typed, indexed field of a record."""

    name: Name = Field(description="Name of the field.")
    type: Literal["string", "integer", "number", "boolean"] = Field(description="Type of a value.")
    many: bool = Field(False, description="Whether a record may hold several values.")


class RecordKind(_Table):
    """``[[records]]``: a kind of record the pack's enrichers write."""

    kind: Name = Field(description="Name of the kind.")
    fields: tuple[RecordField, ...] = Field(
        min_length=1,
        strict=False,
        description="Indexed fields of the kind; what need not be found goes into data.",
    )

    @model_validator(mode="after")
    def _distinct_fields(self) -> RecordKind:
        _distinct([field.name for field in self.fields], f"fields of record kind {self.kind!r}")
        return self


class CollectionDeclaration(_Table):
    """``[[collections]]``: a vector view of chunks the pack registers."""

    name: Name = Field(description="Name without the namespace.")
    summary: str = Field("", max_length=200, description="One sentence for listings.")


#: ``host:port``; numbers of IP version 6 stand in brackets.
Address = Annotated[
    str, Field(pattern=r"^(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?):[0-9]{1,5}$")
]


class Needs(_Table):
    """``[needs]``: what the pack wants from its surroundings."""

    services: tuple[str, ...] = Field((), strict=False, description="Services it connects to.")
    env: tuple[str, ...] = Field(
        (),
        strict=False,
        description="Environment variables it reads, or that a library it imports sets.",
    )
    network: tuple[Address, ...] = Field(
        (),
        strict=False,
        description='Addresses its tools connect to, e.g. "api.example.org:443"; any other one is '
        "an effect.",
    )


class PackManifest(_Table):
    """The whole manifest."""

    format: Literal[1] = Field(alias="schema", description="Version of this file format: 1.")
    pack: PackTable = Field(description="What the pack is.")
    tools: tuple[ToolDeclaration, ...] = Field((), strict=False, description="Its tools.")
    records: tuple[RecordKind, ...] = Field((), strict=False, description="Kinds of its records.")
    collections: tuple[CollectionDeclaration, ...] = Field(
        (), strict=False, description="Its collections."
    )
    needs: Needs = Field(Needs(), description="What it wants from its surroundings.")

    @model_validator(mode="after")
    def _distinct_names(self) -> PackManifest:
        _distinct([tool.name for tool in self.tools], "tools")
        _distinct([record.kind for record in self.records], "records")
        _distinct([collection.name for collection in self.collections], "collections")
        return self

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Public names of the declared tools."""
        return tuple(f"{self.pack.namespace}_{tool.name}" for tool in self.tools)


def parse_manifest(text: str) -> PackManifest:
    """Read a manifest.

    :raises PluginError: says where it is wrong and how to write it.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PluginError(f"{MANIFEST_NAME} is not valid TOML: {error}.") from None
    try:
        return PackManifest.model_validate(raw)
    except ValidationError as error:
        raise PluginError(_explain(error)) from None


def _explain(error: ValidationError) -> str:
    from eagle_rag_core.settings.suggest import did_you_mean

    first = error.errors(include_url=False)[0]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    key = place.removeprefix(".")
    match first["type"]:
        case "extra_forbidden":
            last = str(first["loc"][-1])
            hint = did_you_mean(last, _keys_at(first["loc"][:-1]))
            return f"{MANIFEST_NAME}: there is no key {key!r}{hint}"
        case "missing":
            return f"{MANIFEST_NAME}: the key {key!r} is missing."
        case "value_error":
            where = f"{key}: " if key else ""
            return f"{MANIFEST_NAME}: {where}{first['ctx']['error']}"
        case "literal_error":
            return f"{MANIFEST_NAME}: {key} must be {first['ctx']['expected']}."
        case _:
            return f"{MANIFEST_NAME}: {key} is not valid: {first['msg']}."


def _keys_at(location: tuple[int | str, ...]) -> list[str]:
    """Keys allowed in the table at ``location``."""
    model: Any = PackManifest
    for part in location:
        if isinstance(part, str):
            annotation = model.model_fields[part].annotation
            model = getattr(annotation, "__args__", (annotation,))[0]
    return [field.alias or name for name, field in model.model_fields.items()]


def _distinct(names: list[str], what: str) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{what} must be distinct; {', '.join(repeated)} is declared twice.")
