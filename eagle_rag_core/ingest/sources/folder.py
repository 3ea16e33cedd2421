"""The files below a folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from eagle_rag_core.errors import EagleError, ErrorCode, FetchError, InvalidArgument
from eagle_rag_core.ingest.fetch.uris import file_uri, path_of, printable
from eagle_rag_core.ingest.sources.items import SkippedItem, SourceItem, SourceSpec
from eagle_rag_core.ingest.sources.patterns import JUNK, Selection

#: A file of patterns at the top of a folder: what is never read from it.
IGNORE_FILE = ".eagleignore"
_MAX_IGNORE_BYTES = 1 << 20


class FolderLister:
    """Walks a folder, file by file, in a stable order.

    Folders are entered, links to folders are not: they would show files twice, or lead in
    circles. A link to a file counts where the file lies inside the folder.

    :raises FetchError: the folder or its ignore file cannot be read.
    :raises InvalidArgument: a pattern is malformed.
    """

    delay = 0.0

    def __init__(self, spec: SourceSpec) -> None:
        self.complete = False
        self._top = path_of(spec.uri)
        self._real_top = os.path.realpath(self._top)
        self._selection = Selection(
            spec.include, spec.exclude, (*JUNK, *_ignore_lines(self._top / IGNORE_FILE))
        )
        self._unread = 0

    def items(self) -> Iterator[SourceItem | SkippedItem]:
        """The files, one after another; a folder is listed when its turn comes.

        :raises FetchError: the folder itself cannot be read.
        """
        try:
            entries = _entries(self._top)
        except OSError as error:
            raise _unreadable(self._top, error) from error
        yield from self._walk(entries, "")
        self.complete = not self._unread

    def covers(self, uri: str) -> bool:
        relative = os.path.relpath(path_of(uri), self._top)
        return not relative.startswith("../") and self._selection.takes(relative)

    def gone(self, uri: str) -> bool:
        """Whether nothing is there any more; not, for a file behind a folder without rights."""
        try:
            status = path_of(uri).stat()
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False
        return not stat.S_ISREG(status.st_mode)

    def _walk(
        self, entries: Sequence[os.DirEntry[str]], prefix: str
    ) -> Iterator[SourceItem | SkippedItem]:
        for entry in entries:
            relative = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if self._selection.enters(relative):
                    yield from self._below(entry, relative)
            elif self._selection.takes(relative):
                yield self._item(entry, relative)

    def _below(self, folder: os.DirEntry[str], relative: str) -> Iterator[SourceItem | SkippedItem]:
        try:
            entries = _entries(Path(folder.path))
        except FileNotFoundError:
            return  # removed since its parent was listed
        except OSError:
            self._unread += 1
            reason = "This folder cannot be read; check its rights."
            yield SkippedItem(shown(folder.path), reason, refused=True)
            return
        yield from self._walk(entries, f"{relative}/")

    def _item(self, entry: os.DirEntry[str], relative: str) -> SourceItem | SkippedItem:
        name = shown(entry.path)
        try:
            status = entry.stat()
        except FileNotFoundError:
            return SkippedItem(name, "It is a link that leads nowhere, or has just been removed.")
        except OSError:
            return SkippedItem(name, "It cannot be looked at: a link in a circle, or no rights.")
        if not stat.S_ISREG(status.st_mode):
            kind = "a link to a folder" if stat.S_ISDIR(status.st_mode) else "no regular file"
            return SkippedItem(name, f"It is {kind}.")
        if entry.is_symlink() and not self._is_inside(entry.path):
            return SkippedItem(name, "It is a link that leads out of the folder.")
        try:
            uri = file_uri(Path(entry.path))
        except InvalidArgument as error:
            return SkippedItem(name, error.message, refused=True)
        revision = f"{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_size}-{status.st_ino}"
        return SourceItem(uri, revision)

    def _is_inside(self, path: str) -> bool:
        return Path(os.path.realpath(path)).is_relative_to(self._real_top)


def shown(path: str) -> str:
    """A path as any terminal and any file can hold it: names may be no text at all."""
    return printable(os.fsencode(path).decode("utf-8", "replace"))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return sorted(found, key=lambda entry: entry.name)


def _ignore_lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            raw = file.read(_MAX_IGNORE_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise FetchError(
            f"{IGNORE_FILE} cannot be read, so what to leave out is not known. Check its rights.",
            code=ErrorCode.SOURCE_UNREADABLE,
        ) from error
    return raw.decode("utf-8-sig", "surrogateescape").splitlines()


def _unreadable(folder: Path, error: OSError) -> EagleError:
    name = shown(str(folder))
    if isinstance(error, FileNotFoundError):
        return FetchError(f"There is no folder {name}.", code=ErrorCode.SOURCE_NOT_FOUND)
    return FetchError(
        f"The folder {name} cannot be read; check its rights.", code=ErrorCode.SOURCE_UNREADABLE
    )
