"""The files of deploy/ fit together, and the settings in them are real ones."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from eagle_rag_core.cli.main import cli
from eagle_rag_core.settings import load_settings
from eagle_rag_core.settings.environment import our_variables

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
#: What the operator writes into .env.
ANSWERS = "a-password-for-tests-that-is-long"


def env_file() -> dict[str, str]:
    lines = (DEPLOY / ".env.example").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def filled(value: str) -> str:
    """A value of the compose file, with the variables of .env."""
    given = {name: text or ANSWERS for name, text in env_file().items()}
    return re.sub(r"\$\{(\w+)[^}]*\}", lambda found: given[found[1]], value)


def images() -> Iterator[str]:
    yield from (filled(service["image"]) for service in SERVICES.values() if "image" in service)
    yield from re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)


def command(service: str) -> list[str]:
    return [str(word) for word in SERVICES[service]["command"]]


def test_everything_that_is_named_is_there() -> None:
    used: dict[str, set[str]] = {"volumes": set(), "networks": set(), "secrets": set()}
    for service in SERVICES.values():
        assert service.get("depends_on", {}).keys() <= SERVICES.keys()
        used["networks"] |= set(service["networks"])
        used["secrets"] |= set(service.get("secrets", ()))
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            if source.startswith("."):
                assert (DEPLOY / source).is_file(), source
            else:
                used["volumes"].add(source)
    for kind, names in used.items():
        assert names == COMPOSE[kind].keys(), kind


def test_what_is_waited_for_can_be_told_from_its_state() -> None:
    for name, service in SERVICES.items():
        for other, wait in service.get("depends_on", {}).items():
            condition = wait["condition"]
            if condition == "service_healthy":
                assert SERVICES[other]["healthcheck"]["test"][0] == "CMD", (name, other)
            else:
                assert condition == "service_completed_successfully"
                assert SERVICES[other]["restart"] == "on-failure"


def test_milvus_can_be_left_out() -> None:
    optional = {name for name, service in SERVICES.items() if "profiles" in service}
    assert optional == {name for name in SERVICES if name.startswith("milvus")}
    assert {p for name in optional for p in SERVICES[name]["profiles"]} == {
        env_file()["COMPOSE_PROFILES"]
    }
    for name, service in SERVICES.items():
        for other, wait in service.get("depends_on", {}).items():
            assert name in optional or (other in optional) == (wait.get("required") is False)


def test_every_service_is_checked_limited_and_of_a_version() -> None:
    unchecked = {n for n, s in SERVICES.items() if s["healthcheck"].get("disable")}
    assert unchecked == {"worker", "s3-bucket"}
    for name, service in SERVICES.items():
        limits = service["deploy"]["resources"]["limits"]
        assert limits.keys() == {"cpus", "memory"}, name
        assert isinstance(limits["cpus"], str), name
    for image in images():
        _, _, tag = image.partition(":")
        assert re.search(r"\d", tag) and tag != "latest", image


def test_only_the_proxy_can_be_reached_from_outside() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert COMPOSE["networks"]["inner"]["internal"]
    stores = SERVICES.keys() - {"proxy", "api", "worker"}
    assert all(SERVICES[name]["networks"] == ["inner"] for name in stores)
    for name in ("api", "worker"):
        assert SERVICES[name]["read_only"] and SERVICES[name]["cap_drop"] == ["ALL"]
        assert not any("docker.sock" in volume for volume in SERVICES[name]["volumes"])


def test_no_secret_is_written_down() -> None:
    empty = {name for name, text in env_file().items() if not text}
    assert empty == {"POSTGRES_PASSWORD", "S3_SECRET_KEY", "MILVUS_S3_SECRET_KEY"}
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|TOKEN", name):
                assert re.fullmatch(r"\$\{\w+:\?[^}]*\}", value), name
    assert set((DEPLOY / ".gitignore").read_text("utf-8").split()) == {".env", "secrets/"}


def test_every_variable_of_the_compose_file_is_in_the_example() -> None:
    text = (DEPLOY / "compose.yaml").read_text("utf-8")
    named = set(re.findall(r"(?<!\$)\$\{(\w+)", text))
    assert named | {"COMPOSE_PROFILES"} == env_file().keys()
    proxy = set(re.findall(r"\{\$(\w+)\}", (DEPLOY / "Caddyfile").read_text("utf-8")))
    assert proxy == SERVICES["proxy"]["environment"].keys()


@pytest.mark.parametrize("service", ["api", "worker"])
def test_the_settings_are_those_of_the_product(
    service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {k: filled(v) for k, v in SERVICES[service]["environment"].items()}
    dockerfile = dict(re.findall(r"(EAGLE_RAG_\w+)=(\S+)", DOCKERFILE))
    for name, value in {**dockerfile, **environment}.items():
        monkeypatch.setenv(name, value)
    assert [name for name, _ in our_variables(environment)] == ["EAGLE_RAG_HOME"]
    settings = load_settings(config=DEPLOY / "eagle-rag.yaml")
    assert str(settings.home) == dockerfile["EAGLE_RAG_HOME"]
    assert f"eagle-home:{settings.home}" in SERVICES[service]["volumes"]
    assert settings.auth.enabled and not settings.ingest.embedded_worker
    assert settings.mcp.allowed_hosts == ["rag.example.org"]
    assert [str(token.token_file) for token in settings.auth.tokens] == [
        f"/run/secrets/{name}" for name in SERVICES[service]["secrets"]
    ]
    # Each host that they name is a service of the compose file, on the port it listens at.
    urls = (
        settings.database.url,
        settings.blobs.endpoint_url,
        settings.milvus.uri,
        settings.celery.broker_url,
    )
    hosts = {re.sub(r".*[/@](?=[^/@]+:\d)|(?<=\d)/.*", "", url) for url in urls}
    assert hosts == {"postgres:5432", "s3:9000", "milvus:19530", "redis:6379"}
    assert {host.split(":")[0] for host in hosts} <= SERVICES.keys()


def test_without_milvus_vectors_stay_in_the_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAGLE_HOST", "rag.example.org")
    monkeypatch.delenv("EAGLE_MILVUS_URI", raising=False)
    assert load_settings(config=DEPLOY / "eagle-rag.yaml").milvus.uri == ""


@pytest.mark.parametrize("service", ["api", "worker"])
def test_the_commands_exist_and_read_the_configuration(service: str) -> None:
    words = command(service)
    config = words[words.index("--config") + 1]
    assert f"./eagle-rag.yaml:{config}:ro" in SERVICES[service]["volumes"]
    told = CliRunner().invoke(cli, [words[0], "--help"]).output
    assert all(word in told for word in words if word.startswith("--"))


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n\s*", "", re.sub(r"^\s*#.*\n", "", DOCKERFILE, flags=re.MULTILINE))
    pairs = (line.partition(" ") for line in text.splitlines() if line.strip())
    return [(name, rest) for name, _, rest in pairs]


def test_the_image_is_built_from_what_there_is() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").split()
    sources = []
    for name, rest in instructions():
        if name == "COPY" and not rest.startswith("--from"):
            *found, _target = shlex.split(rest)
            sources += found
    assert sources and all((ROOT / source).exists() for source in sources)
    assert {f"!{source}" for source in sources} == {w for w in ignored if w.startswith("!")}
    (install,) = (rest for name, rest in instructions() if name == "RUN" and "pip install" in rest)
    for pack in re.findall(r"\./(plugins/\w+)", install):
        assert (ROOT / pack / "pyproject.toml").is_file()
    (extras,) = re.findall(r"^ARG EXTRAS=(\S+)", DOCKERFILE, re.MULTILINE)
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras.split(","))


def test_the_image_has_few_rights_and_says_how_it_is() -> None:
    last = instructions()
    last = last[max(n for n, (name, _) in enumerate(last) if name == "FROM") :]
    users = [rest for name, rest in last if name == "USER"]
    assert users and all(int(part) > 0 for part in users[-1].split(":"))
    (health,) = (rest for name, rest in last if name == "HEALTHCHECK")
    assert "/health/ready" in health and "/health/ready" in str(SERVICES["api"]["healthcheck"])
    assert [rest for name, rest in last if name == "ENTRYPOINT"] == ['["eagle-rag"]']
    assert int(SERVICES["api"]["stop_grace_period"].removesuffix("s")) >= 40


PAGE = ROOT / "docs" / "deploy.md"
SHELL = [
    shlex.split(line, comments=True)
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    for line in re.sub(r"\\\n\s*", "", block).splitlines()
]


def test_the_page_names_what_there_is() -> None:
    composed = [words for words in SHELL if words[:2] == ["docker", "compose"]]
    assert composed
    for words in composed:
        services = [word.split("=")[0] for word in words if word.split("=")[0] in SERVICES]
        assert services or {"up", "build", "pull", "ps", "down"} & set(words), words


def test_the_commands_of_the_page_exist() -> None:
    ran = [words for words in SHELL if "run" in words and "docker" in words]
    assert len(ran) >= 5
    for words in ran:
        said = words[words.index("worker") + 1 :]
        names = [word for word in said if not word.startswith(("-", "/"))]
        depth = 2 if names[0] == "vectors" else 1
        told = CliRunner().invoke(cli, [*names[:depth], "--help"])
        assert told.exit_code == 0, words
        assert all(word in told.output for word in said if word.startswith("--")), words
        assert said[-2:] == ["--config", command("worker")[-1]], words
