"""Tools of the core and of the packs, asked anything at all."""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import pytest
from argument_making import ArgumentMaker, Arguments
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tool_library import REMOTE, TENANT, ToolLibrary
from wire_checks import WireCheck

import eagle_rag_biomed
import eagle_rag_lakehouse_bi
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.plugins.manifest import MANIFEST_NAME
from eagle_rag_core.types import LOCAL, Caller

ROOT = Path(__file__).parents[2]
OTTERS = "# Otters\n\nSea otters eat urchins.\n\n## Tools\n\nThey use stones.\n"
#: Calls of each tool, and how many of them one seed stands for.
CALLS = 200
MANY = 2000
PER_SEED = 25
DEPLOYMENTS: dict[str, tuple[Any, str]] = {
    "biomed": (eagle_rag_biomed, "plugins/biomed/examples"),
    "lakehouse_bi": (eagle_rag_lakehouse_bi, "plugins/lakehouse_bi/examples"),
}
CORE = (
    "core_get_document",
    "core_get_job",
    "core_get_outline",
    "core_get_section",
    "core_ingest",
    "core_list_documents",
    "core_list_kbs",
    "core_query",
    "core_retrieve_text",
    "core_retrieve_visual",
)


def _declared(package: Any) -> list[str]:
    """The tools of a pack, from its manifest."""
    manifest = files(package).joinpath(MANIFEST_NAME).read_text("utf-8")
    return [tool["name"] for tool in tomllib.loads(manifest)["tools"]]


TOOLS = [("biomed", name) for name in CORE] + [
    (pack, f"{pack}_{name}")
    for pack, (package, _) in DEPLOYMENTS.items()
    for name in _declared(package)
]


class Target:
    """A library whose tools are called.

    :param known: values that mean something there, by the name of a parameter.
    """

    def __init__(self, home: Path, deployment: str) -> None:
        package, examples = DEPLOYMENTS[deployment]
        self.tools = ToolLibrary(home, package, settings={"mcp": {"max_retries": 0}})
        (home / "inbox").mkdir(parents=True, exist_ok=True)
        (home / "inbox" / "otters.md").write_text(OTTERS)
        for path in sorted((ROOT / examples).rglob("*")):
            if path.is_file():
                self.tools.add_path(path, any_path=True)
        otters = self.tools.add_path(home / "inbox" / "otters.md")
        self.known = self._known(deployment, otters)
        self.secrets = (str(ROOT), str(home), str(Path.home()) + os.sep)

    def _known(self, deployment: str, otters: str) -> dict[str, Sequence[str]]:
        call = self.tools.call
        listed = call("core_list_documents", limit=3)
        ids = [otters, *(item["document_id"] for item in listed["items"])]
        outline = call("core_get_outline", document_id=otters)["items"]
        job = call("core_ingest", source_uri="otters.md")["job_id"]
        metrics = call("lakehouse_bi_list_metrics")["items"] if deployment == "lakehouse_bi" else []
        texts = ("urchins", "TP53 in breast cancer", "orders by month", "select 1", "revenue")
        return {
            "document_id": ids,
            "document_ids": ids,
            "scope": ids,
            "section_id": [item["section_id"] for item in outline],
            "job_id": [job],
            "metric": [metric["name"] for metric in metrics],
            "kb_name": ["default", ""],
            "kb_names": ["default"],
            "cursor": ["", listed["next_cursor"]],
            "title": ["Otters"],
            "source_type": ["note"],
            "tags": ["sea"],
            "source_uri": ["otters.md", "absent.md", "http://127.0.0.1/", "file:///etc/passwd"],
            "field": ["title", "tags", "created_at", "metadata.year", "source_uri"],
            "query": texts,
            "text": texts,
            "sql": ["select * from orders", "delete from orders; select 1", "select ((("],
        }

    def call(self, tool: str, given: Arguments, caller: Caller, check: WireCheck) -> str:
        """The code of a call that went as it should."""
        outcome = self.tools.outcome(tool, given, by=caller)
        failures = {ErrorCode.INTERNAL, ErrorCode.PLUGIN_FAILED, ErrorCode.TIMEOUT}
        assert outcome.code not in failures, (given, outcome.payload)
        check.check(outcome, given)
        return outcome.code


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Target]]:
    made: dict[str, Target] = {}

    def target(deployment: str) -> Target:
        if deployment not in made:
            made[deployment] = Target(tmp_path_factory.mktemp(deployment) / "home", deployment)
        return made[deployment]

    yield target
    for each in made.values():
        each.tools.close()


def attack(target: Target, tool: str, calls: int) -> None:
    spec = target.tools.app.pipeline.tools[tool]
    checks = {
        caller: WireCheck(spec, target.secrets if caller is not LOCAL else ())
        for caller in (REMOTE, TENANT, LOCAL)
    }
    codes: Counter[str] = Counter()

    @settings(
        max_examples=calls // PER_SEED,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=True))
    def run(random: Random) -> None:
        maker = ArgumentMaker(spec.input_schema, target.known, random)
        for _ in range(PER_SEED):
            caller = random.choice((REMOTE, REMOTE, TENANT, LOCAL))
            codes[target.call(tool, maker.make(), caller, checks[caller])] += 1

    run()
    assert codes.total() >= calls
    assert 0 < codes["ok"] < calls, codes


@pytest.mark.parametrize(("deployment", "tool"), TOOLS, ids=[tool for _, tool in TOOLS])
def test_no_call_breaks_a_tool(
    targets: Callable[[str], Target], deployment: str, tool: str
) -> None:
    attack(targets(deployment), tool, CALLS)


@pytest.mark.full
@pytest.mark.parametrize(("deployment", "tool"), TOOLS, ids=[tool for _, tool in TOOLS])
def test_no_call_of_many_breaks_a_tool(
    targets: Callable[[str], Target], deployment: str, tool: str
) -> None:
    attack(targets(deployment), tool, MANY)


@pytest.mark.parametrize("deployment", DEPLOYMENTS)
def test_no_tool_is_left_out(targets: Callable[[str], Target], deployment: str) -> None:
    exposed = set(targets(deployment).tools.app.pipeline.tools)
    assert exposed == {*CORE, *(tool for pack, tool in TOOLS if pack == deployment)}
