"""Files that an operator names in options and on the command line."""

from __future__ import annotations

from pathlib import Path

from eagle_rag_core.errors import PluginError


class FileUnusable(PluginError):
    """A file or folder that cannot be used.

    Its message, which callers of tools may see, names it without the folders it stands in.

    :param path: the whole path, for operators only.
    """

    def __init__(self, message: str, path: Path) -> None:
        super().__init__(message)
        self.path = path

    @property
    def for_operators(self) -> str:
        """The message with the whole path."""
        return f"{self.message} (Looked for at {str(self.path.absolute())!r}.)"
