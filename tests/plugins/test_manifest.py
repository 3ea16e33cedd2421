"""The manifest: read strictly, refused with messages that teach."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins import manifest as module
from eagle_rag_core.plugins.manifest import parse_manifest
from eagle_rag_core.testing.fake_distributions import DECLARED, pack_manifest

FULL = """
schema = 1
[pack]
namespace = "biomed"
title = "Biomedical literature"
api = ">=1.0,<2"
options = "eagle_rag_biomed.settings:Options"
[[tools]]
name = "query_entities"
effect = "read"
summary = "Entities related to a question."
[[records]]
kind = "mention"
fields = [
    { name = "curie", type = "string" },
    { name = "types", type = "string", many = true },
    { name = "score", type = "number" },
]
[[collections]]
name = "entities"
summary = "Passages that mention entities."
[needs]
services = ["a vocabulary server"]
env = ["BIOMED_KEY"]
"""


def test_a_full_manifest() -> None:
    parsed = parse_manifest(FULL)
    assert parsed.format == 1
    assert parsed.pack.namespace == "biomed"
    assert parsed.tool_names == ("biomed_query_entities",)
    assert [(f.name, f.type, f.many) for f in parsed.records[0].fields] == [
        ("curie", "string", False),
        ("types", "string", True),
        ("score", "number", False),
    ]
    assert parsed.collections[0].name == "entities"
    assert parsed.needs.env == ("BIOMED_KEY",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema = ", "not valid TOML"),
        (pack_manifest("biomed").replace("schema = 1", "schema = 2"), "schema must be 1"),
        (pack_manifest("biomed").replace("schema = 1", ""), "'schema' is missing"),
        (pack_manifest("biomed", pack='titel = "x"'), "no key 'pack.titel'; did you mean 'title'?"),
        (pack_manifest("biomed") + '[need]\nenv=["X"]', "no key 'need'; did you mean 'needs'?"),
        (
            pack_manifest("biomed", more=DECLARED.replace("effect", "efect")),
            r"no key 'tools\[0\].efect'; did you mean 'effect'\?|'tools\[0\].effect' is missing",
        ),
        (
            pack_manifest("biomed", more=DECLARED.replace('"read"', '"write"')),
            "effect must be 'read'",
        ),
        (pack_manifest("biomed", more=DECLARED + DECLARED), "query_things is declared twice"),
        (pack_manifest("core"), "pack.namespace: The namespace 'core' is reserved"),
        (pack_manifest("biomed", api="one"), "api must be a version specifier"),
        (pack_manifest("biomed", api=""), "api must be a version specifier"),
        (pack_manifest("biomed", pack='options = "pkg.Options"'), '"package.module:Class"'),
        (
            pack_manifest("biomed", more='[[records]]\nkind = "a"\nfields = []'),
            r"records\[0\].fields",
        ),
        (
            pack_manifest(
                "biomed", more='[[records]]\nkind = "a"\nfields = [{name="x", type="date"}]'
            ),
            r"records\[0\].fields\[0\].type must be 'string', 'integer', 'number' or 'boolean'",
        ),
        (
            pack_manifest("biomed", more=DECLARED.replace("query_things", "Query-Things")),
            r"tools\[0\].name",
        ),
    ],
)
def test_faults_are_named(text: str, message: str) -> None:
    with pytest.raises(PluginError, match=message) as refused:
        parse_manifest(text)
    assert refused.value.message.startswith("eagle-pack.toml")


def test_every_field_is_described_because_the_descriptions_are_the_documentation() -> None:
    models = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, BaseModel) and value is not BaseModel
    ]
    fields = [(m, name, field) for m in models for name, field in m.model_fields.items()]
    assert len(fields) > 15
    assert [(m.__name__, name) for m, name, field in fields if not field.description] == []
