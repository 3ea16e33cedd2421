"""Tools from typed functions: strict schemas, strict arguments, checked results."""

# mypy: disable-error-code="empty-body"
from __future__ import annotations

import dataclasses
import json
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from logging import Logger
from typing import Annotated, Any, Literal, NotRequired

import pytest
from fastmcp import Context
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from eagle_rag_core.errors import ErrorCode, GuardError, InvalidArgument, PluginError
from eagle_rag_core.plugins import ToolSpec, register_mcp_tool
from eagle_rag_core.plugins.specs import tool_spec_of


class Where(TypedDict):
    """Its docstring is for programmers: see :class:`Found`, `this`."""

    kinds: NotRequired[Annotated[list[str], Field(max_length=3, description="Kinds.")]]
    exact: NotRequired[bool]


@dataclasses.dataclass
class Condition:
    field: str
    value: str = ""


class Window(BaseModel):
    size: int = Field(3, ge=1)


class Found(TypedDict):
    name: Annotated[str, Field(description="Its name.")]
    score: float
    where: NotRequired[Where]


OldStyle = typing.TypedDict("OldStyle", {"name": str})  # noqa: UP013


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Tree(TypedDict):
    title: str
    children: list[Tree]


class Loose(BaseModel):
    note: str | None = None


def text(description: str = "Something.") -> Any:
    return Field(description=description)


def spec_of(function: Callable[..., Any], **options: Any) -> ToolSpec:
    marked = register_mcp_tool(
        **{"namespace": "demo", "name": "query_things", "description": "Finds things.", **options}
    )(function)
    return tool_spec_of(marked, owner="eagle-rag-demo")


def everything(
    query: Annotated[str, Field(min_length=1, max_length=20, description="What to find.")],
    top_k: Annotated[int, Field(ge=1, le=100, description="How many.")] = 5,
    share: Annotated[float, Field(ge=0, le=1, description="Share.")] = 0.5,
    exact: Annotated[bool, text()] = False,
    mode: Annotated[Literal["auto", "text"], text()] = "auto",
    only: Annotated[Literal["x"], text()] = "x",
    colour: Annotated[Colour, text()] = Colour.RED,
    scope: Annotated[
        Sequence[Annotated[str, Field(min_length=1)]], Field(max_length=2, description="Ids.")
    ] = (),
    where: Annotated[Where, text("Where to look.")] = {},  # noqa: B006 - copied for every call
    conditions: Annotated[list[Condition], text()] = [],  # noqa: B006
    window: Annotated[Window, text()] = Window(),  # noqa: B008
    metadata: Annotated[dict[str, str], Field(max_length=2, description="Facts.")] = {},  # noqa: B006
    title: Annotated[str, Field(pattern="^[a-z]*$", description="Title.")] = "",
) -> list[Found]:
    return [Found(name=query, score=1.0)]


SPEC = spec_of(everything)


def refusal(arguments: Mapping[str, object]) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as refused:
        SPEC.validate(arguments)
    return refused.value


class TestSchema:
    def test_it_has_no_references_no_unions_and_closed_objects(self) -> None:
        schema = json.dumps(SPEC.input_schema)
        for forbidden in ("$ref", "$defs", "anyOf", "oneOf", "allOf", "null", 'title": "', "const"):
            assert forbidden not in schema
        assert SPEC.input_schema["additionalProperties"] is False
        properties = SPEC.input_schema["properties"]
        assert properties["where"]["additionalProperties"] is False
        assert properties["conditions"]["items"]["additionalProperties"] is False

    def test_bounds_enums_and_defaults_are_in_it(self) -> None:
        properties = SPEC.input_schema["properties"]
        assert SPEC.input_schema["type"] == "object"
        assert SPEC.input_schema["required"] == ["query"]
        assert properties["top_k"] == {
            "type": "integer",
            "minimum": 1,
            "maximum": 100,
            "default": 5,
            "description": "How many.",
        }
        assert properties["mode"]["enum"] == ["auto", "text"]
        assert properties["only"]["enum"] == ["x"]
        assert properties["colour"] == {
            "type": "string",
            "enum": ["red", "blue"],
            "default": "red",
            "description": "Something.",
        }
        assert properties["scope"]["default"] == []
        assert properties["window"]["default"] == {"size": 3}
        assert properties["metadata"]["additionalProperties"] == {"type": "string"}
        assert properties["title"] == {
            "type": "string",
            "pattern": "^[a-z]*$",
            "default": "",
            "description": "Title.",
        }

    def test_docstrings_of_nested_types_stay_out_of_it(self) -> None:
        assert "programmers" not in json.dumps([SPEC.input_schema, SPEC.output_schema])
        assert SPEC.input_schema["properties"]["where"]["description"] == "Where to look."

    def test_a_tool_without_parameters(self) -> None:
        def query_things() -> list[Found]:
            return []

        spec = spec_of(query_things)
        assert spec.input_schema == {
            "type": "object",
            "additionalProperties": False,
            "properties": {},
        }
        assert spec.validate({}) == {}

    def test_a_list_stands_under_result(self) -> None:
        assert SPEC.wraps_list
        assert SPEC.output_schema["required"] == ["result"]
        item = SPEC.output_schema["properties"]["result"]["items"]
        assert item["properties"]["name"] == {"type": "string", "description": "Its name."}

    def test_an_object_stands_alone(self) -> None:
        def query_things() -> Found:
            return Found(name="a", score=1.0)

        spec = spec_of(query_things)
        assert not spec.wraps_list
        assert spec.output_schema["required"] == ["name", "score"]


class TestArguments:
    def test_defaults_are_filled_in_so_that_equal_calls_look_alike(self) -> None:
        short = SPEC.validate({"query": "q"})
        assert short == SPEC.validate({"top_k": 5, "query": "q", "scope": [], "mode": "auto"})
        assert list(short) == list(everything.__annotations__)[:-1]
        assert short["window"] == Window(size=3)
        assert short["colour"] is Colour.RED

    def test_defaults_are_not_shared_between_calls(self) -> None:
        first = SPEC.validate({"query": "q"})["metadata"]
        assert isinstance(first, dict)
        first["x"] = "y"
        assert SPEC.validate({"query": "q"})["metadata"] == {}

    def test_nested_values_become_their_types(self) -> None:
        values = SPEC.validate(
            {"query": "q", "conditions": [{"field": "a"}], "where": {"kinds": ["k"]}}
        )
        assert values["conditions"] == [Condition("a")]
        assert values["where"] == {"kinds": ["k"]}
        assert SPEC.function(**values) == [{"name": "q", "score": 1.0}]

    @pytest.mark.parametrize("absent", [None, ""])
    def test_null_or_empty_for_an_optional_argument_is_absent(self, absent: object) -> None:
        given = {"query": "q", "mode": absent, "title": absent, "colour": absent}
        assert SPEC.validate(given) == SPEC.validate({"query": "q"})

    def test_null_inside_an_object_is_absent(self) -> None:
        values = SPEC.validate({"query": "q", "where": {"kinds": None, "exact": True}})
        assert values["where"] == {"exact": True}

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({}, "argument 'query' is required"),
            ({"query": None}, "'query' must be a string of 1 to 20 characters, not null"),
            ({"query": ""}, "'query' must be a string of 1 to 20 characters, not ''"),
            ({"query": 5}, "'query' must be a string of 1 to 20 characters, not 5"),
            ({"query": "q", "top_k": "5"}, "'top_k' must be an integer from 1 to 100, not '5'"),
            ({"query": "q", "top_k": True}, "'top_k' must be an integer from 1 to 100, not true"),
            ({"query": "q", "top_k": 5.0}, "'top_k' must be an integer from 1 to 100, not 5.0"),
            ({"query": "q", "top_k": 0}, "'top_k' must be an integer from 1 to 100, not 0"),
            ({"query": "q", "top_k": 10**12}, "not 1000000000000"),
            ({"query": "q", "share": True}, "'share' must be a number from 0"),
            ({"query": "q", "exact": 1}, "'exact' must be true or false, not 1"),
            ({"query": "q", "mode": "fast"}, "'mode' must be one of 'auto', 'text', not 'fast'"),
            ({"query": "q", "scope": "a"}, "'scope' must be a list of at most 2 items, not 'a'"),
            ({"query": "q", "scope": ["a"] * 3}, "list of at most 2 items, not a list of 3"),
            ({"query": "q", "scope": [1]}, "'scope[0]' must be a string"),
            ({"query": "q", "where": []}, "'where' must be an object, not a list of 0"),
            ({"query": "q", "where": {"kinds": [1]}}, "'where.kinds[0]' must be a string, not 1"),
            ({"query": "q", "conditions": [{}]}, "'conditions[0].field' is required"),
            ({"query": "q", "metadata": {"a": 1}}, "'metadata.a' must be a string, not 1"),
            ({"query": "q", "metadata": dict.fromkeys("abc", "")}, "object of at most 2 entries"),
            ({"query": "q", "title": "A"}, "'title' must be a string that matches ^[a-z]*$"),
            ({"query": "q", "share": float("nan")}, "not JSON"),
            ({"query": "q", "scope": [object()]}, "not JSON"),
            ({"query": "\ud800"}, "valid Unicode"),
            ({"query": "q", "metadata": {"\ud800": "a"}}, "valid Unicode"),
        ],
    )
    def test_faults_are_named_with_bounds(self, arguments: dict[str, object], message: str) -> None:
        error = refusal(arguments)
        assert message in error.message
        assert error.code is ErrorCode.INVALID_ARGUMENT

    @pytest.mark.parametrize(
        ("arguments", "meant", "known"),
        [
            ({"query": "q", "topk": 5}, "'top_k'", "query, top_k"),
            ({"query": "q", "where": {"kind": []}}, "'kinds'", "kinds, exact"),
            ({"query": "q", "conditions": [{"feild": "a"}]}, "'field'", "field, value"),
        ],
    )
    def test_unknown_arguments_are_refused_with_the_closest(
        self, arguments: dict[str, object], meant: str, known: str
    ) -> None:
        error = refusal(arguments)
        assert error.code is ErrorCode.UNKNOWN_ARGUMENT
        assert f"did you mean {meant}?" in error.message
        assert f"Known: {known}" in error.message

    def test_long_values_and_names_are_not_echoed(self) -> None:
        lengthy: list[dict[str, object]] = [
            {"query": "x" * 10_000},
            {"query": "q", "y" * 10_000: 1},
            {"query": "q", "metadata": {"y" * 10_000: 1}},
            {"query": "q", "top_k": 10**4000},
        ]
        for arguments in lengthy:
            assert len(refusal(arguments).message) < 400
        assert "(10000 characters)" in refusal({"query": "x" * 10_000}).message

    def test_bottomless_nesting_is_refused(self) -> None:
        for depth in (300, 100_000):
            deep: Any = "a"
            for _ in range(depth):
                deep = [deep]
            assert "nested too deeply" in refusal({"query": "q", "scope": deep}).message

    def test_messages_hold_nothing_that_cannot_be_sent_or_seen(self) -> None:
        for hidden in ("\ud800", "\u202e", "\x1b[2J"):
            for arguments in ({"query": "q", hidden: 1}, {"query": "q", "mode": hidden}):
                message = refusal(arguments).message
                assert hidden not in message
                message.encode()

    @given(
        st.dictionaries(
            st.sampled_from([*SPEC.input_schema["properties"], "zzz"]),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
                lambda inner: (
                    st.lists(inner, max_size=3)
                    | st.dictionaries(
                        st.sampled_from(["kinds", "field", "size", "q"]), inner, max_size=2
                    )
                ),
                max_leaves=5,
            ),
            max_size=6,
        )
    )
    def test_any_json_is_accepted_or_refused_by_our_error(self, arguments: dict[str, Any]) -> None:
        try:
            values = SPEC.validate(arguments)
        except InvalidArgument as error:
            assert len(error.message) < 500
        else:
            assert set(values) == set(SPEC.input_schema["properties"])


class TestResults:
    def test_results_become_json(self) -> None:
        found: list[Found] = [{"name": "a", "score": 1, "where": {"exact": True}}]
        assert SPEC.dump(found) == found

    def test_dataclasses_and_models_become_objects(self) -> None:
        def query_things() -> list[Condition]:
            return []

        def list_things() -> Window:
            return Window()

        assert spec_of(query_things).dump([Condition("a")]) == [{"field": "a", "value": ""}]
        assert spec_of(list_things).dump(Window(size=2)) == {"size": 2}

    @pytest.mark.parametrize(
        "wrong",
        [
            None,
            {},
            [{"name": "a"}],
            [{"name": 1, "score": 1.0}],
            [{"name": "a", "score": float("nan")}],
            [{"name": "a", "score": 1.0, "where": {"kinds": "k"}}],
        ],
    )
    def test_what_does_not_match_the_annotation_is_a_fault_of_the_tool(self, wrong: object) -> None:
        with pytest.raises(PluginError, match="'demo_query_things' returned something else"):
            SPEC.dump(wrong)


def _bad_parameters() -> dict[str, tuple[Callable[..., Any], str]]:
    def no_annotation(query) -> list[Found]: ...  # type: ignore[no-untyped-def]

    def no_description(query: str) -> list[Found]: ...

    def none_default(query: Annotated[str | None, text()] = None) -> list[Found]: ...

    def nullable(query: Annotated[str | None, text()]) -> list[Found]: ...

    def union(query: Annotated[str | int, text()]) -> list[Found]: ...

    def nested_null(query: Annotated[Loose, text()]) -> list[Found]: ...

    def anything(query: Annotated[Any, text()]) -> list[Found]: ...

    def any_values(query: Annotated[dict[str, Any], text()]) -> list[Found]: ...

    def any_items(query: Annotated[list[Any], text()]) -> list[Found]: ...

    def open_bound(query: Annotated[int, Field(gt=0, description="x")]) -> list[Found]: ...

    def unique(query: Annotated[set[str], text()]) -> list[Found]: ...

    def pair(query: Annotated[tuple[str, int], text()]) -> list[Found]: ...

    def opaque(query: Annotated[Logger, text()]) -> list[Found]: ...

    def recursive(query: Annotated[Tree, text()]) -> list[Found]: ...

    def many(*query: Annotated[str, text()]) -> list[Found]: ...

    def keywords(**query: Annotated[str, text()]) -> list[Found]: ...

    def positional(query: Annotated[str, text()], /) -> list[Found]: ...

    def context(ctx: Context) -> list[Found]: ...

    def optional_context(ctx: Annotated[Context | None, text()] = None) -> list[Found]: ...

    def field_default(query: str = Field("a", description="x")) -> list[Found]: ...

    def field_inside(query: Annotated[str, Field("a", description="x")]) -> list[Found]: ...

    def alias(query: Annotated[str, Field(alias="q", description="x")]) -> list[Found]: ...

    def low_default(query: Annotated[int, Field(ge=1, description="x")] = 0) -> list[Found]: ...

    def odd_default(query: Annotated[int, text()] = "a") -> list[Found]: ...  # type: ignore[assignment]

    def unbound(self, query: Annotated[str, text()]) -> list[Found]: ...  # type: ignore[no-untyped-def]

    def link(query: Annotated[str, text("See https://example.org.")]) -> list[Found]: ...

    def hidden(query: Annotated[Literal["a\u200b"], text()]) -> list[Found]: ...

    return {
        "no_annotation": (no_annotation, "no type annotation"),
        "no_description": (no_description, "has no description"),
        "none_default": (none_default, "default None"),
        "nullable": (nullable, "union of types"),
        "union": (union, "union of types"),
        "nested_null": (nested_null, "union of types"),
        "anything": (anything, "any type"),
        "any_values": (any_values, "mapping to anything"),
        "any_items": (any_items, "any type"),
        "open_bound": (open_bound, "exclusiveMinimum"),
        "unique": (unique, "uniqueItems"),
        "pair": (pair, "prefixItems"),
        "opaque": (opaque, "without a JSON form"),
        "recursive": (recursive, "contains itself"),
        "many": (many, "any number of arguments"),
        "keywords": (keywords, "any number of arguments"),
        "positional": (positional, "positional only"),
        "context": (context, "object of the MCP server"),
        "optional_context": (optional_context, "object of the MCP server"),
        "field_default": (field_default, "has a Field as default"),
        "field_inside": (field_inside, "default or an alias"),
        "alias": (alias, "default or an alias"),
        "low_default": (low_default, "breaks its own rule"),
        "odd_default": (odd_default, "not of its type|breaks its own rule"),
        "unbound": (unbound, "not bound"),
        "link": (link, "link"),
        "hidden": (hidden, r"U\+200B"),
    }


@pytest.mark.parametrize("case", _bad_parameters())
def test_parameters_that_some_client_refuses_are_refused_here(case: str) -> None:
    """Reported as NousResearch/hermes-agent#101804."""
    function, message = _bad_parameters()[case]
    with pytest.raises(PluginError, match=message) as refused:
        spec_of(function)
    assert "demo_query_things" in refused.value.message


def _bad_results() -> dict[str, Callable[..., Any]]:
    def nothing(): ...  # type: ignore[no-untyped-def]

    def none() -> None: ...

    def scalar() -> str: ...

    def scalars() -> list[str]: ...

    def open_object() -> dict[str, Any]: ...

    def nullable() -> Found | None: ...

    def nullable_field() -> Loose: ...

    def recursive() -> list[Tree]: ...

    return {
        f.__name__: f
        for f in (nothing, none, scalar, scalars, open_object, nullable, nullable_field, recursive)
    }


@pytest.mark.parametrize("case", _bad_results())
def test_results_without_known_fields_are_refused(case: str) -> None:
    with pytest.raises(PluginError, match="demo_query_things"):
        spec_of(_bad_results()[case])


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="typing.TypedDict suffices from 3.12 on")
def test_the_typed_dict_of_old_pythons_is_explained() -> None:
    def query_things(where: Annotated[OldStyle, text()]) -> list[Found]:
        return []

    def list_things() -> OldStyle:
        return OldStyle(name="a")

    for function in (query_things, list_things):
        with pytest.raises(PluginError, match="import TypedDict from typing_extensions"):
            spec_of(function)


def test_async_functions_and_generators_are_refused() -> None:
    async def query_things() -> list[Found]:
        return []

    def list_things() -> list[Found]:  # type: ignore[misc]
        yield {}

    with pytest.raises(PluginError, match="async"):
        spec_of(query_things)
    with pytest.raises(PluginError, match="generator"):
        spec_of(list_things)


def test_annotations_that_cannot_be_resolved_are_explained() -> None:
    class Local(TypedDict):
        name: str

    def query_things() -> list[Local]:
        return []

    with pytest.raises(PluginError, match="'Local' cannot be resolved; define the type at the top"):
        spec_of(query_things)


def test_bound_methods_may_be_tools() -> None:
    class Tools:
        @register_mcp_tool(namespace="demo", name="query_things", description="Finds things.")
        def query_things(self, query: Annotated[str, text()]) -> list[Found]:
            return [Found(name=query, score=0.0)]

    spec = tool_spec_of(Tools().query_things, owner="eagle-rag-demo")
    assert list(spec.input_schema["properties"]) == ["query"]
    assert spec.function(query="a") == [{"name": "a", "score": 0.0}]


def test_an_unmarked_function_is_no_tool() -> None:
    with pytest.raises(PluginError, match="everything_else is not a tool: mark it"):

        def everything_else() -> list[Found]:
            return []

        everything_else.__qualname__ = "everything_else"
        tool_spec_of(everything_else, owner="x")


class TestMark:
    def test_the_function_stays_what_it_was_and_nothing_global_changes(self) -> None:
        def query_things() -> list[Found]:
            return []

        mark = register_mcp_tool(namespace="demo", name="query_things", description="Finds.")
        assert mark(query_things) is query_things

    def test_facts_of_the_mark_reach_the_tool(self) -> None:
        spec = spec_of(everything, title="Things", timeout=3, open_world=True)
        assert (spec.name, spec.namespace, spec.owner) == (
            "demo_query_things",
            "demo",
            "eagle-rag-demo",
        )
        assert (spec.title, spec.description, spec.timeout) == ("Things", "Finds things.", 3)
        assert dataclasses.asdict(spec.annotations) == {
            "read_only": True,
            "destructive": False,
            "idempotent": True,
            "open_world": True,
        }
        assert spec_of(everything, title="").title == "Query things"

    def test_the_writer_of_the_core_is_marked_as_such(self) -> None:
        spec = spec_of(everything, namespace="core", name="ingest", effect="ingest")
        assert not spec.annotations.read_only
        assert not spec.annotations.destructive

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"name": "delete_things"}, GuardError, "'delete'"),
            ({"description": ""}, GuardError, "description of tool 'demo_query_things' is empty"),
            ({"description": "You must call this."}, GuardError, "order"),
            ({"title": "a" * 81}, GuardError, "title"),
            ({"effect": "ingest"}, PluginError, "must be 'read'"),
            ({"namespace": "core", "name": "ingest"}, PluginError, "must be 'ingest'"),
            ({"timeout": 0}, PluginError, "timeout"),
        ],
    )
    def test_the_guard_runs_when_a_function_is_marked(
        self, options: dict[str, Any], error: type[PluginError], message: str
    ) -> None:
        base = {"namespace": "demo", "name": "query_things", "description": "Finds things."}
        with pytest.raises(error, match=message):
            register_mcp_tool(**{**base, **options})
