"""Functions that do more than compute: a SELECT that calls one is no mere reading of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sqlglot import exp

_KINDS: Final[Mapping[str, str]] = {
    "writes files or large objects": (
        "lo_import lo_export lo_create lo_creat lo_from_bytea lo_put lo_unlink pg_file_write "
        "pg_write_file pg_file_unlink pg_file_rename"
    ),
    "reads outside the catalogs": (
        "pg_read_file pg_read_binary_file pg_ls_dir pg_stat_file load_file read_csv read_csv_auto "
        "read_parquet parquet_scan read_json read_json_auto read_text read_blob openrowset "
        "opendatasource openquery dblink"
    ),
    "runs other statements or commands": (
        "dblink_exec dblink_send_query xp_cmdshell sp_executesql query_to_xml load_extension "
        "sys_exec sys_eval"
    ),
    "acts on the server": (
        "pg_terminate_backend pg_cancel_backend pg_reload_conf pg_rotate_logfile set_config setval "
        "nextval pg_advisory_lock"
    ),
    "holds the server up": "pg_sleep pg_sleep_for pg_sleep_until sleep benchmark",
}
_EFFECTS: Final = {name: kind for kind, names in _KINDS.items() for name in names.split()}


def effects(tree: exp.Expr) -> Iterator[str]:
    """The functions of a statement that do more than compute, each with what it does."""
    from sqlglot import exp

    for function in tree.find_all(exp.Func):
        plain = isinstance(function, exp.Anonymous)
        name = (function.name if plain else function.sql_name()).lower()
        if kind := _EFFECTS.get(name):
            yield f"{name.upper()} ({kind})"
