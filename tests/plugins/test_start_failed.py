"""Packs that register well and fail when the engine is built: named, taken back, isolated."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from e2e.packs import install_pack
from e2e.product import Deployment, run_cli
from e2e.servers import Launcher
from typing_extensions import TypedDict

from eagle_rag_core.app import EagleApp
from eagle_rag_core.errors import EagleError, PluginError
from eagle_rag_core.plugins import PackContext, hookimpl, register_mcp_tool
from eagle_rag_core.plugins.context import PackServices
from eagle_rag_core.plugins.sources import PackSource, explicit_pack
from eagle_rag_core.settings import load_settings
from eagle_rag_core.testing.fake_distributions import pack_manifest
from eagle_rag_core.types import LOCAL, EmbedderSpec, Leg

SECRET = "the key in /etc/secret/key is wrong"


class Found(TypedDict):
    name: str


class Numbers:
    """An embedder that looks at how long a text is."""

    name = "numbers"
    fingerprint = "numbers-1"
    dim = 2
    scripts = frozenset[str]()
    dense_weight = 1.0

    def embed_documents(self, texts: Any) -> Any:
        return np.array([self.embed_query(text) for text in texts], np.float32).reshape(-1, 2)

    def embed_query(self, text: str) -> Any:
        angle = len(text) / 100
        return np.array([np.cos(angle), np.sin(angle)], np.float32)


class Pack:
    """A pack with a tool, a leg and, where ``factory`` is given, an embedder."""

    def __init__(self, namespace: str, factory: Callable[[], Any] | None = None) -> None:
        self.namespace = namespace
        self.factory = factory

    @hookimpl
    def register_tools(self, ctx: PackContext) -> list[Any]:
        @register_mcp_tool(
            namespace=self.namespace, name="query_things", description="Finds things."
        )
        def function() -> list[Found]:
            return [Found(name=self.namespace)]

        return [function]

    @hookimpl
    def register_embedders(self, ctx: PackContext) -> list[EmbedderSpec]:
        return [EmbedderSpec(f"{self.namespace}_model", self.factory)] if self.factory else []

    @hookimpl
    def register_retrievers(self, ctx: PackContext) -> list[Leg]:
        return [Leg(f"{self.namespace}_leg", lambda request: ())]


def source(namespace: str, factory: Callable[[], Any] | None = None) -> PackSource:
    return explicit_pack(
        Pack(namespace, factory),
        pack_manifest(namespace),
        distribution=f"eagle-rag-{namespace}",
        version="1.0",
    )


def raising(error: BaseException) -> Callable[[], Any]:
    def factory() -> Any:
        raise error

    return factory


Open = Callable[..., EagleApp]


@pytest.fixture
def open_app(tmp_path: Path) -> Iterator[Open]:
    opened: list[EagleApp] = []

    def open_app(*packs: PackSource, embedder: str = "auto", **plugins: Any) -> EagleApp:
        enabled = [pack.record.namespace for pack in packs]
        overrides = {
            "home": tmp_path / "home",
            "models": {"text_embedder": embedder},
            "plugins": {"enabled": enabled, **plugins},
        }
        opened.append(EagleApp.open(load_settings(overrides=overrides), packs=packs))
        return opened[-1]

    yield open_app
    for app in opened:
        app.close()


@pytest.fixture
def built_by_biomed(open_app: Open) -> Open:
    """As ``open_app``; the libraries were made with the embedder of the pack biomed."""
    for namespace in ("core", "biomed"):
        pack = source("biomed", Numbers)
        open_app(pack, embedder="biomed_model", default_namespace=namespace).engine()
    return open_app


def states(app: EagleApp) -> dict[str, str]:
    return {pack["namespace"]: pack["state"] for pack in app.plugins_report()["packs"]}


def reason(app: EagleApp, namespace: str) -> str:
    (found,) = (p for p in app.plugins_report()["packs"] if p["namespace"] == namespace)
    return str(found["reason"])


def call(app: EagleApp, tool: str, **arguments: Any) -> Any:
    outcome = asyncio.run(app.pipeline.call(tool, arguments, caller=LOCAL, face="test"))
    return outcome.payload


def refusal(app: EagleApp, tool: str) -> str:
    """The message of a call that the framework refuses, which keeps the secret."""
    payload = call(app, tool)
    (error,) = payload if isinstance(payload, list) else [payload]
    assert error["code"] == "plugin_failed"
    assert SECRET not in str(error)
    return str(error["error"])


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        (raising(ValueError(SECRET)), "Creating the embedder biomed_model raised ValueError."),
        (raising(SystemExit(3)), "raised SystemExit"),
        (lambda: None, "returned a NoneType, which is no TextEmbedder"),
        (lambda: Numbers, "which is no TextEmbedder"),
    ],
    ids=["raising", "leaving", "nothing", "class"],
)
def test_a_pack_whose_embedder_cannot_be_created_is_taken_back_alone(
    built_by_biomed: Open, factory: Callable[[], Any], words: str
) -> None:
    """Reported as IBM/mcp-context-forge#4033."""
    app = built_by_biomed(source("biomed", factory), source("law"))
    before = app.plugins_report()["fingerprint"]
    engine = app.engine()
    assert states(app) == {"biomed": "start-failed", "law": "active"}
    assert words in reason(app, "biomed")
    assert app.plugins_report()["fingerprint"] != before
    assert not engine.embedder.can_ingest
    assert call(app, "core_retrieve_text", query="anything") == []
    assert app.health()["status"] == "ok"


def test_nothing_of_it_stays_in_the_engine(
    built_by_biomed: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[list[str]] = []

    def spy(settings: Any, extensions: Any, *rest: Any) -> Any:
        built.append([leg.name for leg in extensions.legs])
        return build(settings, extensions, *rest)

    from eagle_rag_core.assembly import building

    build = building.build_engine
    monkeypatch.setattr(building, "build_engine", spy)
    app = built_by_biomed(source("biomed", raising(ValueError())), source("law"))
    app.engine()
    app.engine()
    assert built == [["biomed_leg", "law_leg"], ["law_leg"]]


def test_it_fails_once_and_is_not_tried_again(built_by_biomed: Open) -> None:
    tried = []

    def factory() -> Any:
        tried.append(1)
        raise ValueError

    app = built_by_biomed(source("biomed", factory), embedder="biomed_model")
    for _ in range(3):
        with pytest.raises(EagleError, match=r"'biomed' is not active: start-failed\. Creating"):
            app.engine()
    assert len(tried) == 1


def test_the_default_namespaces_pack_failing_refuses_every_call(built_by_biomed: Open) -> None:
    """Reported as vllm-project/vllm#48277."""
    app = built_by_biomed(source("biomed", raising(ValueError(SECRET))), default_namespace="biomed")
    for _ in range(2):
        with pytest.raises(PluginError, match="of the default namespace is not active") as refused:
            app.services()
        assert "plugins.allow_degraded" in refused.value.message
    for tool in ("core_list_kbs", "biomed_query_things"):
        assert "start-failed" in refusal(app, tool)
    assert app.health()["status"] == "failed"
    assert app.health()["code"] == "plugin_failed"
    assert states(app) == {"biomed": "start-failed"}


def test_degraded_the_core_works_and_the_packs_tools_say_why_not(built_by_biomed: Open) -> None:
    app = built_by_biomed(
        source("biomed", raising(ValueError(SECRET))),
        default_namespace="biomed",
        allow_degraded=True,
    )
    assert call(app, "core_list_kbs") == {"items": [], "next_cursor": ""}
    message = refusal(app, "biomed_query_things")
    assert "start-failed. Creating the embedder biomed_model raised ValueError." in message


def test_a_factory_that_nobody_needs_is_not_called(open_app: Open) -> None:
    app = open_app(source("biomed", raising(AssertionError("called"))), embedder="none")
    app.engine()
    assert states(app) == {"biomed": "active"}


def test_a_pack_cannot_bind_its_own_context(open_app: Open) -> None:
    class Binder(Pack):
        @hookimpl
        def register_retrievers(self, ctx: PackContext) -> list[Leg]:
            ctx.bind(PackServices(records=None, search=None))  # type: ignore[arg-type]
            return []

    binder = explicit_pack(Binder("biomed"), pack_manifest("biomed"))
    app = open_app(binder, source("law"), embedder="none")
    app.engine()
    assert states(app) == {"biomed": "register-failed", "law": "active"}
    assert "ctx.bind" in reason(app, "biomed")


#: An embedder that works until the file SWITCH is there.
SWITCHED = """
import pathlib
import numpy as np
from eagle_rag_core.plugins import hookimpl
from eagle_rag_core.types import EmbedderSpec

class Ones:
    name, fingerprint, dim, scripts, dense_weight = "ones", "ones-1", 2, frozenset(), 1.0

    def embed_documents(self, texts):
        return np.tile(np.array([1, 0], np.float32), (len(texts), 1))

    def embed_query(self, text):
        return np.array([1, 0], np.float32)

def create():
    if pathlib.Path(SWITCH).exists():
        raise RuntimeError("the key in /etc/secret/key is wrong")
    return Ones()

class Pack:
    @hookimpl
    def register_embedders(self, ctx):
        return [EmbedderSpec("toy_ones", create)]

pack = Pack()
"""


@pytest.mark.full
def test_a_server_names_it_and_a_command_ends_with_it(
    deployment: Deployment, launcher: Launcher, tmp_path: Path
) -> None:
    switch = tmp_path / "switch"
    body = f"SWITCH = {str(switch)!r}\n{SWITCHED}"
    install_pack(tmp_path / "site", "toy", body=body, text=pack_manifest("toy", more=""))
    settings = {"profile": "toy", "models.text_embedder": "toy_ones"}
    home = Deployment(deployment.home, settings, tmp_path / "site")
    assert run_cli(home, "kb", "list").returncode == 0
    switch.touch()
    ended = run_cli(home, "kb", "list")
    assert ended.returncode == 1
    assert "Error [plugin_failed]: Pack 'toy' of the default namespace" in ended.stderr
    server = launcher.http(home)
    assert server.get("/health/ready").status_code == 503
    (pack,) = [
        pack for pack in server.get("/health/plugins").json()["packs"] if pack["namespace"] == "toy"
    ]
    assert pack["state"] == "start-failed"
    assert pack["reason"] == "Creating the embedder toy_ones raised RuntimeError."
    assert server.call("core_list_kbs").code == "plugin_failed"
    assert "/etc/secret" not in server.get("/health/plugins").text
    assert "/etc/secret/key is wrong" in server.stderr
