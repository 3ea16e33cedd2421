"""Discovery: static, complete, and robust against every broken neighbour."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from eagle_rag_core.plugins.discovery import discover
from eagle_rag_core.plugins.states import PackRecord, PackState
from eagle_rag_core.testing import run_python
from eagle_rag_core.testing.fake_distributions import (
    pack_manifest,
    write_distribution,
    write_pack,
)


def records(*folders: Path, core_version: str = "1.0") -> list[PackRecord]:
    found = discover(list(map(str, folders)), core_version=core_version)
    return [source.record for source in found.packs]


def only(*folders: Path, core_version: str = "1.0") -> PackRecord:
    (record,) = records(*folders, core_version=core_version)
    return record


def test_a_sound_pack_is_described_without_importing_it(tmp_path: Path) -> None:
    code = "raise SystemExit('imported')"
    package = write_pack(tmp_path, "biomed", package="only_described", code=code)
    record = only(tmp_path)
    assert record.state is PackState.DISCOVERED
    assert record.namespace == "biomed"
    assert record.distribution == "eagle-rag-biomed"
    assert record.version == "1.0"
    assert record.title == "A pack for tests"
    assert record.tools == ("biomed_query_things",)
    assert Path(record.location) == tmp_path
    assert not record.editable
    assert package not in sys.modules


def test_namespaces_are_listed_for_implicit_profiles_even_of_broken_packs(tmp_path: Path) -> None:
    write_pack(tmp_path, "biomed")
    write_pack(tmp_path, "law", manifest="")
    write_distribution(tmp_path, "bad", entry_points=b"[eagle_rag.packs]\n\xff = x:y")
    assert discover([str(tmp_path)]).namespaces == ["biomed", "law"]


def test_a_stale_copy_earlier_on_the_path_is_named(tmp_path: Path) -> None:
    """Reported as vllm-project/vllm#43987."""
    stale, site = tmp_path / "stale", tmp_path / "site"
    write_distribution(stale, "eagle-rag-biomed", "0.9")
    write_pack(site, "biomed")
    record = only(stale, site)
    assert record.state is PackState.SHADOWED
    assert "0.9" in record.reason
    assert str(stale) in record.reason


def test_the_remains_of_an_uninstalled_copy_shadow_nothing(tmp_path: Path) -> None:
    """Reported as vllm-project/vllm#43987."""
    stale, site = tmp_path / "stale", tmp_path / "site"
    write_distribution(stale, "eagle-rag-biomed", "0.9", metadata=False)
    write_pack(site, "biomed")
    assert only(stale, site).state is PackState.DISCOVERED


def test_a_distribution_found_twice_is_one_pack_and_one_shadow(tmp_path: Path) -> None:
    """Reported as python/importlib_metadata#410."""
    first, second = tmp_path / "first", tmp_path / "second"
    write_pack(first, "biomed", distribution="Eagle.Rag_Biomed", version="2.0")
    write_pack(second, "biomed", distribution="eagle-rag-biomed", version="1.0")
    found = {record.version: record for record in records(first, second)}
    assert found["2.0"].state is PackState.DISCOVERED
    assert found["1.0"].state is PackState.SHADOWED


def test_a_folder_twice_on_the_path_counts_once(tmp_path: Path) -> None:
    """Reported as python/importlib_metadata#410."""
    write_pack(tmp_path, "biomed")
    (tmp_path / "alias").symlink_to(tmp_path)
    assert only(tmp_path, tmp_path, tmp_path / "alias").state is PackState.DISCOVERED


def test_two_distributions_with_one_namespace_are_both_refused(tmp_path: Path) -> None:
    """Reported as pytest-dev/pytest#10072."""
    write_pack(tmp_path, "biomed", distribution="eagle-rag-biomed")
    write_pack(tmp_path, "biomed", distribution="other-biomed", package="other_pack")
    found = records(tmp_path)
    assert [record.state for record in found] == [PackState.CONFLICT] * 2
    for record in found:
        assert "eagle-rag-biomed 1.0" in record.reason
        assert "other-biomed 1.0" in record.reason


@pytest.mark.parametrize(("short", "long"), [("lakehouse", "lakehouse_bi"), ("bio", "bio_med")])
def test_a_namespace_that_begins_another_is_a_conflict(
    tmp_path: Path, short: str, long: str
) -> None:
    write_pack(tmp_path, short)
    write_pack(tmp_path, long)
    write_pack(tmp_path, "law")
    states = {record.namespace: record.state for record in records(tmp_path)}
    assert states == {
        short: PackState.CONFLICT,
        long: PackState.CONFLICT,
        "law": PackState.DISCOVERED,
    }


def test_one_corrupt_distribution_hides_no_other_and_is_named(tmp_path: Path) -> None:
    """Reported as python/cpython#100455."""
    write_pack(tmp_path, "biomed")
    binary = write_distribution(tmp_path, "aaa", entry_points=b"[console_scripts]\n\xff\xfe = a:b")
    write_distribution(tmp_path, "bbb", entry_points="[eagle_rag.packs]\nno equals sign\n")
    write_distribution(tmp_path, "ccc", entry_points="[broken\n= = =")
    found = discover([str(tmp_path)])
    assert [source.record.namespace for source in found.packs] == ["biomed"]
    assert str(binary) in found.unreadable
    assert any("bbb" in path for path in found.unreadable)


def test_a_pack_without_metadata_is_invalid_and_shown(tmp_path: Path) -> None:
    """Reported as python/cpython#100455."""
    info = write_distribution(
        tmp_path, "eagle-rag-x", entry_points="[eagle_rag.packs]\nx = x:pack", metadata=False
    )
    record = only(tmp_path)
    assert record.state is PackState.INVALID
    assert record.distribution == str(info)
    assert "reinstall" in record.reason


def test_a_manifest_missing_from_the_package_is_explained(tmp_path: Path) -> None:
    """Reported as napari/npe2#190."""
    write_pack(tmp_path, "biomed", manifest="")
    record = only(tmp_path)
    assert record.state is PackState.INVALID
    assert "eagle-pack.toml is not in the installed package" in record.reason


def test_a_manifest_of_another_namespace_is_refused(tmp_path: Path) -> None:
    """Reported as napari/npe2#190."""
    write_pack(tmp_path, "biomed", manifest=pack_manifest("bio"))
    record = only(tmp_path)
    assert record.state is PackState.INVALID
    assert "'bio'" in record.reason
    assert "'biomed'" in record.reason


def test_a_wrong_manifest_makes_the_pack_invalid_with_the_key(tmp_path: Path) -> None:
    write_pack(tmp_path, "biomed", manifest=pack_manifest("biomed", pack='titel = "x"'))
    assert "pack.titel" in only(tmp_path).reason


def test_only_the_packs_own_requirement_on_the_core_counts(tmp_path: Path) -> None:
    """Reported as apache/airflow#12692."""
    write_pack(
        tmp_path,
        "biomed",
        requires=[
            "eagle-rag-core>=1.0",
            "not-installed-anywhere==99",
            "Eagle_Rag.Core>=9; extra == 'future'",
            "%% not a requirement %%",
        ],
    )
    assert only(tmp_path, core_version="1.0").state is PackState.DISCOVERED


@pytest.mark.parametrize(
    ("required", "core", "state"),
    [
        ("eagle-rag-core>=2", "1.0", PackState.INCOMPATIBLE),
        ("Eagle_Rag.Core<1", "1.0", PackState.INCOMPATIBLE),
        ("eagle-rag-core>=1", "1.1rc1", PackState.DISCOVERED),
        ("eagle-rag-core[local]>=1,<2", "1.9", PackState.DISCOVERED),
    ],
)
def test_an_incompatible_pack_is_told_in_one_line(
    tmp_path: Path, required: str, core: str, state: PackState
) -> None:
    """Reported as open-telemetry/opentelemetry-python-contrib#529."""
    write_pack(tmp_path, "biomed", requires=[required])
    record = only(tmp_path, core_version=core)
    assert record.state is state
    assert "\n" not in record.reason
    assert (core in record.reason) == (state is PackState.INCOMPATIBLE)


def test_the_pack_api_is_checked_before_import(tmp_path: Path) -> None:
    """Reported as open-telemetry/opentelemetry-python-contrib#529."""
    write_pack(
        tmp_path, "biomed", manifest=pack_manifest("biomed", api=">=2"), code="raise SystemExit"
    )
    record = only(tmp_path)
    assert record.state is PackState.INCOMPATIBLE
    assert "pack API >=2" in record.reason


@pytest.mark.parametrize("name", ["core", "eagle", "mcp", "Biomed", "bio-med", "core_more"])
def test_bad_namespaces_are_refused_not_repaired(tmp_path: Path, name: str) -> None:
    """Reported as HKUDS/nanobot#4618."""
    write_pack(tmp_path, name, package="some_pack", manifest=pack_manifest("biomed"))
    record = only(tmp_path)
    assert record.state is PackState.INVALID
    assert repr(name) in record.reason


@pytest.mark.parametrize("value", ["a_pack", "a_pack.inner:pack", "a_pack:a.b", "a_pack:pack [x]"])
def test_the_entry_point_names_a_top_level_package_and_an_attribute(
    tmp_path: Path, value: str
) -> None:
    write_pack(tmp_path, "a", entry=f"a = {value}")
    record = only(tmp_path)
    assert record.state is PackState.INVALID
    assert "top_level_package:attribute" in record.reason


def test_a_single_module_is_no_pack(tmp_path: Path) -> None:
    write_distribution(tmp_path, "one", entry_points="[eagle_rag.packs]\none = one_module:pack\n")
    (tmp_path / "one_module.py").write_text("pack = 1")
    assert "not importable, is a single module" in only(tmp_path).reason


def test_a_folder_that_hides_the_installed_package_is_found_out(tmp_path: Path) -> None:
    site, other = tmp_path / "site", tmp_path / "other"
    package = write_pack(site, "biomed")
    (other / package).mkdir(parents=True)
    (other / package / "__init__.py").write_text("")
    record = only(other, site)
    assert record.state is PackState.INVALID
    assert str(other / package) in record.reason


def test_discovery_without_packs_imports_nothing_heavy(tmp_path: Path) -> None:
    write_distribution(tmp_path, "other", entry_points="[console_scripts]\na = b:c\n")
    result = run_python(
        f"""
        import sys
        from eagle_rag_core.plugins.discovery import discover
        assert discover([{str(tmp_path)!r}]).packs == ()
        heavy = {{"pydantic", "pluggy", "packaging", "fastmcp", "structlog"}} & set(sys.modules)
        print(sorted(heavy))
        """
    )
    assert result.stdout.strip() == "[]", result.stderr
