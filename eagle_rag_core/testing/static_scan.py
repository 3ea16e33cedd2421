"""What the source of a pack says about it, read without importing any of it.

It finds what raises no audit event (reading the environment, replacing parts of the core), what
acts below Python, and what a test may never reach. It is a lint: a name that is put together at
run time escapes it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from eagle_rag_core.plugins.manifest import MANIFEST_NAME, Needs, parse_manifest
from eagle_rag_core.testing import static_rules as rules
from eagle_rag_core.testing.static_rules import Rule, Severity

if TYPE_CHECKING:
    from typing import TypeGuard

_CORE: Final = "eagle_rag_core"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in the source that a pack should not do.

    :param severity: an ``error`` breaks a rule of the framework; a ``warning`` wants a look.
    """

    file: str
    line: int
    severity: Severity
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.severity}: {self.reason}"


def scan(files: Mapping[str, str]) -> list[Finding]:
    """Look through the source of a pack.

    :param files: texts by path; ``*.py`` are looked through, and an ``eagle-pack.toml`` says what
        the pack declares under ``[needs]``.
    :returns: by file and line.
    :raises PluginError: the manifest is not valid.
    """
    needs = Needs()
    for path, text in files.items():
        if path.rpartition("/")[2] == MANIFEST_NAME:
            needs = parse_manifest(text).needs
    found = [
        finding
        for path, text in files.items()
        if path.endswith(".py")
        for finding in _scan_file(path, text, needs)
    ]
    return sorted(set(found), key=lambda finding: (finding.file, finding.line, finding.reason))


def _scan_file(path: str, text: str, needs: Needs) -> list[Finding]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        return [Finding(path, line, "error", "it is not valid Python of this version")]
    reader = _Reader(path, needs)
    reader.visit(tree)
    return reader.findings


class _Reader(ast.NodeVisitor):
    """Reads one module.

    ``_names`` says what imported names stand for; names that are bound in another way are taken
    for what they are called, which is what builtins need. Uses of ``_reported`` names are not
    reported beside their import.
    """

    def __init__(self, path: str, needs: Needs) -> None:
        self.findings: list[Finding] = []
        self._path = path
        self._needs = needs
        self._names: dict[str, str] = {}
        self._reported: set[str] = set()
        self._depth = 0

    def visit_If(self, node: ast.If) -> None:
        """Imports for type checkers alone do nothing."""
        if self._dotted(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for child in node.orelse:
                self.visit(child)
        else:
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            self._names[bound] = alias.name if alias.asname else bound
            self._check_import(node, alias.name, bound)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level:  # the pack's own
            return
        module = node.module or ""
        for alias in node.names:
            full, bound = f"{module}.{alias.name}", alias.asname or alias.name
            self._names[bound] = full
            if alias.name == "*":
                self._add(node, Rule("warning", f"importing everything of {module} hides what"))
            self._check_import(node, full, bound)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._dotted(node)
        if name.startswith("."):  # of the result of an expression
            self.generic_visit(node)
        elif not self._is_reported(node):
            self._check_name(node, name)
        if _behind_context(name.split(".")):
            self._add(node, rules.BEHIND_CONTEXT, name)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self._names and node.id not in self._reported:
            self._check_name(node, self._names[node.id])

    def visit_Call(self, node: ast.Call) -> None:
        name = self._dotted(node.func)
        self._check_call(node, name)
        if name in ("os.getenv", "os.environ.get"):
            self._check_environment(node, node.args[0] if node.args else None)
        elif name in ("importlib.import_module", "__import__"):
            self._check_dynamic_import(node)
        elif name in ("open", "io.open", "os.fdopen") or name.endswith(".open"):
            self._check_open(node, 1 if self._is_imported(node.func) or name == "open" else 0)
        elif name in ("setattr", "delattr") and node.args:
            self._check_patch(node, node.args[0])
        elif isinstance(node.func, ast.Attribute) and node.func.attr in rules.PATH_METHOD_NAMES:
            self._add(node, rules.PATH_METHODS, f".{node.func.attr}()")
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if self._dotted(node.value) == "os.environ":
            if isinstance(node.ctx, ast.Load):
                self._check_environment(node, node.slice)
            else:
                self._add(node, Rule("error", "it changes the environment of the process"))
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._check_target(target)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._check_target(node.target)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._check_target(node.target)
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._check_target(target)
        self.generic_visit(node)

    def _check_import(self, node: ast.stmt, module: str, bound: str) -> None:
        before = len(self.findings)
        if module.startswith(f"{_CORE}.") and not _within(module, rules.PUBLIC_CORE):
            self._add(node, rules.PRIVATE_CORE, module)
        self._check_name(node, module)
        if len(self.findings) > before:
            self._reported.add(bound)

    def _check_name(self, node: ast.expr | ast.stmt, name: str) -> None:
        if name in ("os.environ", "os.environb"):
            return  # what is done with it counts
        for table in (rules.FORBIDDEN, {} if self._needs.network else rules.NETWORK):
            if rule := _rule_for(name, table):
                self._add(node, rule, name)

    def _check_call(self, node: ast.Call, name: str) -> None:
        for table in (rules.CALLS, {} if self._depth else rules.AT_IMPORT):
            if rule := table.get(name):
                self._add(node, rule, f"{name}()")

    def _check_environment(self, node: ast.expr, key: ast.expr | None) -> None:
        if not _is_text(key):
            reason = "it reads a variable of the environment whose name only running it shows"
            self._add(node, Rule("warning", reason))
        elif key.value not in self._needs.env:
            reason = (
                f"it reads the variable {key.value} of the environment; make it an option, or "
                "name it in [needs] env"
            )
            self._add(node, Rule("error", reason))

    def _check_dynamic_import(self, node: ast.Call) -> None:
        if node.args and _is_text(node.args[0]):
            self._check_name(node, node.args[0].value)
        else:
            self._add(node, Rule("warning", "it imports a module that only running it names"))

    def _check_open(self, node: ast.Call, position: int) -> None:
        """``open(path, mode)`` and ``path.open(mode)``."""
        modes = [keyword.value for keyword in node.keywords if keyword.arg == "mode"]
        modes += node.args[position : position + 1]
        for mode in modes:
            if _is_text(mode) and set(mode.value) & set("wax+"):
                self._add(node, Rule("error", "opening a file for writing changes the file system"))
            elif not isinstance(mode, ast.Constant):
                self._add(node, Rule("warning", "it opens a file in a mode only running it shows"))

    def _check_target(self, target: ast.expr) -> None:
        """Whether an assignment replaces a part of something imported."""
        if isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._check_target(part)
        elif isinstance(target, ast.Attribute):
            self._check_patch(target, target.value)
        elif isinstance(target, ast.Subscript):
            self._check_patch(target, target.value, item=True)

    def _check_patch(self, node: ast.expr, owner: ast.expr, *, item: bool = False) -> None:
        first = _first(owner)
        if not isinstance(first, ast.Name) or first.id not in self._names:
            return
        name = self._dotted(owner) or self._names[first.id]
        if name in ("os.environ", "os.environb"):
            return
        if name.partition(".")[0] in (_CORE, "sys", "builtins"):
            self._add(node, Rule("error", f"it replaces parts of {name}"))
        elif not item:
            self._add(node, Rule("warning", f"it changes {name}, which others use too"))

    def _dotted(self, node: ast.expr) -> str:
        """The name an expression stands for, "" where it is not a name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return f".{parts[0]}" if parts else ""
        return ".".join([self._names.get(node.id, node.id), *reversed(parts)])

    def _is_imported(self, node: ast.expr) -> bool:
        first = _first(node)
        return isinstance(first, ast.Name) and first.id in self._names

    def _is_reported(self, node: ast.expr) -> bool:
        first = _first(node)
        return isinstance(first, ast.Name) and first.id in self._reported

    def _add(self, node: ast.expr | ast.stmt, rule: Rule, what: str = "") -> None:
        reason = f"{what} {rule.reason}" if what else rule.reason
        self.findings.append(Finding(self._path, node.lineno, rule.severity, reason))


def _is_text(node: ast.expr | None) -> TypeGuard[_Text]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


class _Text(ast.Constant):
    value: str


def _first(node: ast.expr) -> ast.expr:
    """What ``a.b[c].d`` begins with: ``a``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def _behind_context(parts: Sequence[str]) -> bool:
    """Whether a dotted name goes from a pack's context to something private."""
    context = next((at for at, part in enumerate(parts) if part in rules.CONTEXT_NAMES), len(parts))
    return any(part.startswith("_") for part in parts[context + 1 :])


def _prefixes(name: str) -> Iterator[str]:
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(len(parts), 0, -1))


def _rule_for(name: str, table: Mapping[str, Rule]) -> Rule | None:
    return next((table[prefix] for prefix in _prefixes(name) if prefix in table), None)


def _within(name: str, names: frozenset[str]) -> bool:
    return any(prefix in names for prefix in _prefixes(name))
