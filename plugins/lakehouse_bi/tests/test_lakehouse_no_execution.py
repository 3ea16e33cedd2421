"""The pack describes data and never reaches it: proven while every tool is called."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from eagle_rag_core.errors import GuardError
from eagle_rag_core.plugins import assert_rag_only_tool_name
from eagle_rag_core.testing.processes import run_python
from eagle_rag_lakehouse_bi.tools.naming import assert_describes_only

ROOT = Path(__file__).parent.parent
MANIFEST = ROOT / "eagle_rag_lakehouse_bi" / "eagle-pack.toml"
#: What connects to a database or a warehouse. The library's own catalog is SQLite.
DRIVERS = """adbc_driver_manager aiomysql aiosqlite asyncpg clickhouse_connect clickhouse_driver
    cx_Oracle databricks deltalake duckdb ibis impala jaydebeapi MySQLdb mysql oracledb pinot
    psycopg psycopg2 pyathena pydruid pyhive pyiceberg pymssql pymysql pyodbc pyspark
    redshift_connector
    snowflake teradatasql trino vertica_python""".split()
SERVED = """
import json, sys, tempfile
from pathlib import Path
drivers, examples, arguments, catalog = json.loads(sys.argv[1])
attempts, watching = [], False

def hook(event, given):
    if not watching:
        return
    name = str(given[0]).partition(".")[0] if given else ""
    if event == "import" and name in drivers:
        attempts.append(f"import {name}")
    elif event in ("socket.connect", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"):
        attempts.append(event)
    elif event == "sqlite3.connect" and not str(given[0]).startswith(catalog):
        attempts.append(f"sqlite3.connect {given[0]}")

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackLibrary
with PackLibrary(Path(catalog), eagle_rag_lakehouse_bi) as library:
    library.ingest(*sorted(Path(examples).iterdir()))
    sys.addaudithook(hook)
    watching = True
    called = []
    for tool, given in arguments.items():
        library.call(tool, **given)
        called.append(tool)
    watching = False
imported = sorted(set(drivers) & {name.partition(".")[0] for name in sys.modules})
print(json.dumps({"called": called, "attempts": attempts, "imported": imported}))
"""


def tool_arguments() -> dict[str, dict[str, object]]:
    """Arguments for every tool: those of the conformance tests, by full name."""
    from test_lakehouse_conformance import TestLakehouseBi  # type: ignore[import-not-found]

    return {f"lakehouse_bi_{n}": given for n, given in TestLakehouseBi.arguments.items()}


def test_no_driver_is_imported_and_nothing_connected_to_while_every_tool_is_called(
    tmp_path: Path,
) -> None:
    """Audit events see attempts, whether or not a driver is installed."""
    arguments = tool_arguments()
    given = json.dumps([DRIVERS, str(ROOT / "examples"), arguments, str(tmp_path)])
    ran = run_python(f"import sys\nsys.argv[1:] = [{given!r}]\n{SERVED}")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found == {"called": list(arguments), "attempts": [], "imported": []}


def test_every_declared_tool_is_called_there() -> None:
    manifest = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    assert {f"lakehouse_bi_{tool['name']}" for tool in manifest["tools"]} == set(tool_arguments())
    assert {tool["effect"] for tool in manifest["tools"]} == {"read"}
    assert "needs" not in manifest


@pytest.mark.parametrize("name", "run_query run_sql dry_run execute_sql store_query".split())
def test_the_guard_of_the_framework_refuses_tools_that_act(name: str) -> None:
    with pytest.raises(GuardError):
        assert_rag_only_tool_name(f"lakehouse_bi_{name}", namespace="lakehouse_bi")


@pytest.mark.parametrize(
    "name",
    """run_query preview preview_rows dry_run sample_rows fetch_rows show get_rows query_metrics
    query_table explain_and_run list_sample_data query_and_execute""".split(),
)
def test_the_pack_refuses_tools_that_promise_rows(name: str) -> None:
    with pytest.raises(GuardError):
        assert_describes_only(name)


def test_names_of_the_tools_pass() -> None:
    for name in tool_arguments():
        assert_describes_only(name.removeprefix("lakehouse_bi_"))
