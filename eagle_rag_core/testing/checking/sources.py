"""What the code of a pack says of it, read without importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from eagle_rag_core.plugins.guard_tools import ToolTexts, tool_findings
from eagle_rag_core.plugins.manifest import MANIFEST_NAME, PackManifest
from eagle_rag_core.testing.checking.contents import Contents
from eagle_rag_core.testing.checking.findings import Finding
from eagle_rag_core.testing.static_scan import scan

_MARK = "register_mcp_tool"


@dataclass(frozen=True, slots=True)
class MarkedTool:
    """A call of ``register_mcp_tool`` in the source; "" for what only running it shows."""

    file: str
    line: int
    namespace: str
    name: str
    description: str
    title: str


def source_findings(contents: Contents, manifests: Mapping[str, PackManifest]) -> Iterator[Finding]:
    """What breaks a rule in the code, and where it does not say what the manifest says.

    :param manifests: by package.
    """
    sound = {f"{package}/{MANIFEST_NAME}" for package in manifests}
    texts = {
        path: text for path, text in contents.texts.items() if path.endswith(".py") or path in sound
    }
    for path in texts:
        yield from _scanned(path, texts)
    for package, manifest in manifests.items():
        trees = dict(_trees(package, texts))
        yield from _of_options(package, manifest, trees)
        yield from _of_entry_point(package, contents, trees)
        yield from _of_tools(package, manifest, trees)


def _scanned(path: str, texts: Mapping[str, str]) -> Iterator[Finding]:
    """What breaks a rule in one file; the manifest of its package says what is declared."""
    manifest = f"{path.partition('/')[0]}/{MANIFEST_NAME}"
    looked_at = {name: texts[name] for name in (path, manifest) if name in texts}
    try:
        for found in scan(looked_at):
            yield Finding(found.severity, found.reason, found.file, found.line)
    except (RecursionError, MemoryError):
        yield Finding("error", "It is nested too deeply to be looked through.", path)


def _trees(package: str, texts: Mapping[str, str]) -> Iterator[tuple[str, ast.Module]]:
    """The modules of a package that can be parsed; :func:`scan` names the others."""
    for path, text in texts.items():
        if path.startswith(f"{package}/") and path.endswith(".py"):
            try:
                yield path, ast.parse(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue


def _of_options(
    package: str, manifest: PackManifest, trees: Mapping[str, ast.Module]
) -> Iterator[Finding]:
    target = manifest.pack.options
    module, _, attribute = target.partition(":")
    if not target:
        return
    where = f"{package}/{MANIFEST_NAME}"
    path = module.replace(".", "/")
    found = trees.get(f"{path}.py") or trees.get(f"{path}/__init__.py")
    if found is None:
        reason = f"options = {target!r}: there is no such module in the package."
        yield Finding("error", reason, where)
    elif not _binds(found, attribute):
        reason = f"options = {target!r}: the module does not seem to have {attribute!r}."
        yield Finding("warning", reason, where)


def _of_entry_point(
    package: str, contents: Contents, trees: Mapping[str, ast.Module]
) -> Iterator[Finding]:
    inside = f"{package}/__init__.py"
    for value in contents.artifact.entry_points.values():
        named, _, attribute = value.partition(":")
        if named == package and inside in trees and not _binds(trees[inside], attribute):
            reason = (
                f"The entry point is {value!r}, and the package does not seem to have "
                f"{attribute!r}; import or define it in __init__.py."
            )
            yield Finding("warning", reason, inside)


def _binds(tree: ast.Module, name: str) -> bool:
    """Whether a module gives ``name`` a value, as far as reading it tells."""
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
                if name in names or "*" in names:
                    return True
            case ast.Name(id=found, ctx=ast.Store()) if found == name:
                return True
            case ast.ClassDef() | ast.FunctionDef() if node.name in (name, "__getattr__"):
                return True
    return False


def _of_tools(
    package: str, manifest: PackManifest, trees: Mapping[str, ast.Module]
) -> Iterator[Finding]:
    marked = [tool for path, tree in trees.items() for tool in _marked(path, tree)]
    namespace = manifest.pack.namespace
    for tool in marked:
        if tool.name:
            yield from _texts_of(tool, namespace)
    if any(not tool.name for tool in marked):
        return  # what else they are called only running them shows
    declared, named = {tool.name for tool in manifest.tools}, {tool.name: tool for tool in marked}
    for name in sorted(declared - set(named)):
        reason = f"It declares the tool {name!r}, and no source seems to register it."
        yield Finding("warning", reason, f"{package}/{MANIFEST_NAME}")
    for name in sorted(set(named) - declared):
        reason = f"The manifest does not declare the tool {name!r}; the pack would not load."
        yield Finding("error", reason, named[name].file, named[name].line)


def _texts_of(tool: MarkedTool, namespace: str) -> Iterator[Finding]:
    texts = ToolTexts(
        name=f"{namespace}_{tool.name}",
        namespace=namespace,
        title=tool.title,
        description=tool.description or "Only running it shows.",
    )
    for found in tool_findings(texts):
        yield Finding("error", f"{found.message} [{found.rule}]", tool.file, tool.line)
    if tool.namespace not in ("", namespace):
        reason = f"The tool is in the namespace {tool.namespace!r}; this pack's is {namespace!r}."
        yield Finding("error", reason, tool.file, tool.line)


def _marked(path: str, tree: ast.Module) -> Iterator[MarkedTool]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node.func) == _MARK:
            said = {
                keyword.arg: keyword.value.value
                for keyword in node.keywords
                if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
            }
            texts = [said.get(key, "") for key in ("namespace", "name", "description", "title")]
            yield MarkedTool(path, node.lineno, *texts)


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
