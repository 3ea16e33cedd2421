"""Runs of sources on the real engine: what they submit, leave alone and delete."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.errors import EagleError, ErrorCode, FetchError
from eagle_rag_core.ingest.fetch.uris import file_uri
from eagle_rag_core.types import COMMAND_LINE, LOCAL, IngestRequest, JobPriority


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.md").write_text("# Otters\n\nOtters eat urchins.\n")
    (folder / "sub" / "b.txt").write_text("Goats climb trees.\n")
    return folder


class TestFolders:
    def test_a_second_run_submits_nothing(self, library: Any, folder: Path) -> None:
        assert library.run(folder).counts == {"added": 2}
        assert set(library.documents()) == {
            file_uri(folder / "a.md"),
            file_uri(folder / "sub" / "b.txt"),
        }
        before = len(library.jobs())
        assert library.run(folder).counts == {"unchanged": 2}
        assert len(library.jobs()) == before

    def test_a_document_whose_original_is_lost_is_submitted_again(
        self, library: Any, folder: Path
    ) -> None:
        library.run(folder)
        blobs = library.app.settings.home / "blobs"
        lost = [path for path in blobs.rglob("*") if path.is_file()]
        assert len(lost) == 2
        for path in lost:
            path.unlink()
        library.run(folder)
        assert all(path.is_file() for path in lost)

    def test_bulk_jobs_come_after_others(self, library: Any, folder: Path) -> None:
        library.run(folder)
        assert {job.priority for job in library.jobs()} == {JobPriority.LOW}

    def test_a_changed_file_is_made_anew_and_a_touched_one_is_not(
        self, library: Any, folder: Path
    ) -> None:
        library.run(folder)
        (folder / "a.md").write_text("# Otters\n\nOtters eat crabs.\n")
        os.utime(folder / "sub" / "b.txt")
        report = library.run(folder)
        assert report.counts == {"changed": 1, "unchanged": 1}
        assert "crabs" in library.text(file_uri(folder / "a.md"))

    def test_other_tags_make_documents_anew(self, library: Any, folder: Path) -> None:
        library.run(folder)
        assert library.run(folder, tags=("x",)).counts == {"changed": 2}
        assert library.run(folder, tags=("x",)).counts == {"unchanged": 2}

    def test_formats_nobody_reads_are_skipped_and_counted(self, library: Any, folder: Path) -> None:
        (folder / "logo.bin").write_bytes(b"\x7fELF\0\1\2\3" * 40)
        for _ in range(2):
            report = library.run(folder)
            assert report.counts["skipped"] == 1 and report.error is None
        assert len(library.jobs()) == 2

    def test_empty_and_broken_files_do_not_keep_the_others_back(
        self, library: Any, folder: Path
    ) -> None:
        (folder / "void.md").touch()
        (folder / "cut.pdf").write_bytes(b"%PDF-1.7 and then nothing")
        report = library.run(folder)
        assert report.counts == {"added": 3, "refused": 1}
        assert len(library.documents()) == 2

    def test_what_failed_is_tried_again_by_hand_but_not_on_schedule(
        self, library: Any, folder: Path
    ) -> None:
        (folder / "cut.pdf").write_bytes(b"%PDF-1.7 and then nothing")
        library.run(folder)
        report = library.run(folder, retry_failed=False)
        assert report.counts == {"unchanged": 3}
        assert len(library.jobs()) == 3
        library.run(folder)
        assert len(library.jobs()) == 4
        (folder / "cut.pdf").write_bytes(b"%PDF-1.7 and then again nothing")
        assert library.run(folder, retry_failed=False).counts == {"added": 1, "unchanged": 2}

    def test_a_job_that_waits_is_not_submitted_twice(
        self, make_library: Callable[..., Any], folder: Path
    ) -> None:
        library = make_library(embedded_worker=False)
        assert library.run(folder, wait=False).counts == {"added": 2}
        again = library.run(folder, wait=False)
        assert again.counts == {"pending": 2}
        assert len(library.jobs()) == 2
        library.finish()
        assert len(library.documents()) == 2

    def test_a_document_deleted_by_hand_comes_back(self, library: Any, folder: Path) -> None:
        library.run(folder)
        document_id = library.documents()[file_uri(folder / "a.md")]
        assert library.app.services().documents.delete(LOCAL, document_id)
        assert library.run(folder).counts == {"added": 1, "unchanged": 1}

    def test_a_file_that_vanishes_while_the_folder_is_read_is_skipped(
        self, library: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from eagle_rag_core.service import source_items

        read = source_items.read_head

        def vanishing(path: Path, size: int) -> bytes:
            if path.name == "a.md":
                path.unlink()
            return read(path, size)

        monkeypatch.setattr(source_items, "read_head", vanishing)
        report = library.run(folder)
        assert report.counts == {"skipped": 1, "added": 1} and report.error is None

    def test_a_run_that_is_stopped_is_taken_up_by_the_next(
        self, make_library: Callable[..., Any], folder: Path
    ) -> None:
        for number in range(10):
            (folder / f"{number}.md").write_text(f"Text {number}.\n")
        library = make_library(embedded_worker=False)
        stop = threading.Event()
        seen: list[Any] = []

        def observe(outcome: Any) -> None:
            seen.append(outcome)
            if len(seen) == 3:
                stop.set()

        report = library.sources.run(
            COMMAND_LINE, library.spec(folder, delete_missing=True), stop=stop, observe=observe
        )
        assert report.error.code is ErrorCode.CANCELLED and len(report.outcomes) == 3
        assert library.run(folder).counts == {"pending": 3, "added": 9}
        assert len(library.jobs()) == len(library.documents()) == 12

    def test_a_full_queue_makes_the_run_wait(
        self, make_library: Callable[..., Any], folder: Path
    ) -> None:
        library = make_library(max_queued=1, embedded_worker=False)
        waited: list[float] = []

        class Stop(threading.Event):
            def wait(self, timeout: float | None = None) -> bool:
                if timeout:
                    waited.append(timeout)
                    library.finish()
                return self.is_set()

        assert library.run(folder, stop=Stop()).counts == {"added": 2}
        assert waited

    def test_a_dry_run_tells_and_changes_nothing(self, library: Any, folder: Path) -> None:
        assert library.run(folder, dry=True).counts == {"added": 2}
        assert library.documents() == {} and library.jobs() == []

        assert library.sources.list(COMMAND_LINE) == []
        library.run(folder)
        (folder / "a.md").write_text("# Other\n\nText.\n")
        os.utime(folder / "sub" / "b.txt")
        (folder / "c.md").write_text("# New\n\nText.\n")
        (folder / "sub" / "b.txt").unlink()
        counts = {"changed": 1, "added": 1, "deleted": 1}
        assert library.run(folder, dry=True, delete_missing=True).counts == counts
        assert len(library.documents()) == 2

    def test_a_file_of_an_unkept_run_is_found_unchanged(self, library: Any, folder: Path) -> None:
        library.run(folder / "a.md", kept=False)
        assert library.run(folder, dry=True).counts == {"unchanged": 1, "added": 1}


class TestRenamedKnowledgeBases:
    def rename(self, library: Any, name: str, new_name: str) -> None:
        library.app.services().kbs.rename(COMMAND_LINE, name, new_name)

    def test_a_source_goes_on_under_the_new_name(self, library: Any, folder: Path) -> None:
        library.run(folder, kb_name="a")
        (before,) = library.sources.list(COMMAND_LINE)
        self.rename(library, "a", "b")
        (after,) = library.sources.list(COMMAND_LINE)
        assert (after.source_id, after.spec.kb_name) == (before.source_id, "b")
        (folder / "a.md").write_text("# Otters\n\nOtters eat crabs.\n")
        report = library.sources.run(COMMAND_LINE, after.spec)
        library.finish()
        assert report.source_id == before.source_id
        assert report.counts == {"changed": 1, "unchanged": 1}
        assert "crabs" in library.text(file_uri(folder / "a.md"))
        assert [kb.name for kb in library.app.services().kbs.list(COMMAND_LINE)] == ["b"]

    @pytest.mark.parametrize("dry", [False, True])
    def test_the_freed_name_knows_nothing(self, library: Any, folder: Path, dry: bool) -> None:
        library.run(folder, kb_name="a")
        self.rename(library, "a", "b")
        assert library.run(folder, kb_name="a", dry=dry).counts == {"added": 2}
        assert library.run(folder, kb_name="b").counts == {"unchanged": 2}
        assert len(library.sources.list(COMMAND_LINE)) == (1 if dry else 2)

    def test_a_source_that_never_made_the_new_name_is_forgotten(
        self, library: Any, folder: Path
    ) -> None:
        (empty := folder.with_name("empty")).mkdir()
        library.run(empty, kb_name="b")
        library.run(empty, kb_name="a")
        library.run(folder, kb_name="a")
        self.rename(library, "a", "b")
        found = library.sources.list(COMMAND_LINE)
        assert [info.spec.uri for info in found] == sorted({info.spec.uri for info in found})


class TestDeletingWhatIsMissing:
    def run(self, library: Any, folder: Path, **options: Any) -> Any:
        return library.run(folder, **{"delete_missing": True, **options})

    def test_the_document_of_a_removed_file_goes(self, library: Any, folder: Path) -> None:
        self.run(library, folder)
        (folder / "a.md").unlink()
        report = self.run(library, folder)
        assert report.counts == {"deleted": 1, "unchanged": 1}
        assert set(library.documents()) == {file_uri(folder / "sub" / "b.txt")}
        assert self.run(library, folder).counts == {"unchanged": 1}

    def test_it_stays_unless_asked_for(self, library: Any, folder: Path) -> None:
        library.run(folder)
        (folder / "a.md").unlink()
        assert library.run(folder).counts == {"unchanged": 1}
        assert len(library.documents()) == 2
        assert self.run(library, folder).counts == {"deleted": 1, "unchanged": 1}

    def test_a_renamed_file_is_a_new_one_and_a_deleted_one(
        self, library: Any, folder: Path
    ) -> None:
        self.run(library, folder)
        (folder / "a.md").rename(folder / "z.md")
        assert self.run(library, folder).counts == {"added": 1, "unchanged": 1, "deleted": 1}
        assert file_uri(folder / "z.md") in library.documents()

    def test_a_folder_that_is_gone_deletes_nothing(self, library: Any, folder: Path) -> None:
        self.run(library, folder)
        folder.rename(folder.with_name("away"))
        report = library.sources.run(COMMAND_LINE, _spec(folder))
        assert report.error.code is ErrorCode.SOURCE_NOT_FOUND
        assert len(library.documents()) == 2
        folder.with_name("away").rename(folder)
        assert self.run(library, folder).counts == {"unchanged": 2}

    def test_an_emptied_folder_deletes_nothing_until_that_is_confirmed(
        self, library: Any, folder: Path
    ) -> None:
        self.run(library, folder)
        (folder / "a.md").unlink()
        (folder / "sub" / "b.txt").unlink()
        report = self.run(library, folder)
        assert "held 2 items" in report.error.message and "--allow-empty" in report.error.message
        assert len(library.documents()) == 2
        assert self.run(library, folder, allow_empty=True).counts == {"deleted": 2}
        assert library.documents() == {}

    def test_an_incomplete_listing_deletes_nothing(
        self, library: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.run(library, folder)
        (folder / "a.md").unlink()
        scandir = os.scandir

        def guarded(path: Any = ".") -> Any:
            if str(path) == str(folder / "sub"):
                raise PermissionError(13, "denied")
            return scandir(path)

        monkeypatch.setattr(os, "scandir", guarded)
        assert self.run(library, folder).counts == {"refused": 1}
        assert len(library.documents()) == 2

    def test_a_listing_that_breaks_off_deletes_nothing(
        self, library: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from eagle_rag_core.ingest.sources.folder import FolderLister

        self.run(library, folder)
        items = FolderLister.items

        def breaking(lister: FolderLister) -> Any:
            yield next(items(lister))
            raise FetchError("The disk is gone.", retryable=True)

        monkeypatch.setattr(FolderLister, "items", breaking)
        report = self.run(library, folder)
        assert report.error.message == "The disk is gone."
        assert report.counts == {"unchanged": 1}  # what was read before still counts
        assert len(library.documents()) == 2

    def test_other_patterns_delete_nothing(self, library: Any, folder: Path) -> None:
        self.run(library, folder)
        assert self.run(library, folder, include=("*.md",)).counts == {"unchanged": 1}
        (folder / ".eagleignore").write_text("sub/\n")
        assert self.run(library, folder).counts == {"unchanged": 1}
        assert len(library.documents()) == 2

    def test_a_document_that_another_source_holds_stays(self, library: Any, folder: Path) -> None:
        self.run(library, folder)
        library.run(folder / "sub")
        (folder / "sub" / "b.txt").unlink()
        (folder / "sub" / "c.txt").write_text("More.\n")
        assert self.run(library, folder).counts == {"unchanged": 1, "added": 1, "kept": 1}
        assert file_uri(folder / "sub" / "b.txt") in library.documents()
        self.run(library, folder / "sub")
        assert file_uri(folder / "sub" / "b.txt") not in library.documents()


class TestPages:
    @pytest.fixture
    def site(self, web: Any) -> Any:
        web.page("/robots.txt", b"", 404)
        html = "<html><body><h1>{0}</h1><p>About {0} and more.</p>{1}</body></html>"
        links = "<a href=/a>a</a><a href=/b>b</a>"
        for path, inner in (("/", links), ("/a", ""), ("/b", "")):
            body = html.format(f"page{path.strip('/')}", inner).encode()
            web.page(path, body, Content_Type="text/html", ETag=f'"{path}1"')
        return web

    def test_a_single_page_is_not_downloaded_twice(self, library: Any, web: Any) -> None:
        url = web.url("/page")

        def answer(handler: Any) -> None:
            current = handler.headers.get("If-None-Match") == '"v1"'
            handler.send_response(304 if current else 200)
            handler.send_header("ETag", '"v1"')
            body = b"" if current else b"# Page\n\nSome text.\n"
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)

        web.pages["/page"] = answer
        for dedup_hit in (False, True, True):
            library.run(url, kept=False)
            assert library.jobs()[0].dedup_hit is dedup_hit
        asked = [headers.get("If-None-Match") for _, headers in web.seen]
        assert asked == [None, '"v1"', '"v1"']

    def test_last_modified_does_as_well_and_changes_are_noticed(
        self, library: Any, web: Any
    ) -> None:
        url = web.url("/page")
        web.page("/page", b"# One\n\nFirst.\n", Last_Modified="Wed, 21 Oct 2015 07:28:00 GMT")
        library.run(url, kept=False)
        web.page("/page", b"# Two\n\nSecond.\n", Last_Modified="Thu, 22 Oct 2015 07:28:00 GMT")
        library.run(url, kept=False)
        assert web.seen[1][1]["If-Modified-Since"] == "Wed, 21 Oct 2015 07:28:00 GMT"
        assert "Second" in library.text(url)
        library.run(url, kept=False)
        assert web.seen[2][1]["If-Modified-Since"] == "Thu, 22 Oct 2015 07:28:00 GMT"

    def test_validators_do_not_hide_other_wishes(self, library: Any, web: Any) -> None:
        """With other tags the page has to be made anew, so it is fetched."""
        web.page("/page", b"# One\n\nFirst.\n", ETag='"v1"')
        library.run(web.url("/page"), kept=False)
        library.run(web.url("/page"), kept=False, tags=("new",))
        assert [headers.get("If-None-Match") for _, headers in web.seen] == [None, None]
        assert not library.jobs()[0].dedup_hit

    def test_validators_of_a_deleted_document_are_forgotten(self, library: Any, web: Any) -> None:
        web.page("/page", b"# One\n\nFirst.\n", ETag='"v1"')
        library.run(web.url("/page"), kept=False)
        (document_id,) = library.documents().values()
        library.app.services().documents.delete(LOCAL, document_id)
        library.run(web.url("/page"), kept=False)
        assert [headers.get("If-None-Match") for _, headers in web.seen] == [None, None]
        assert len(library.documents()) == 1

    def test_a_new_tag_for_the_same_content_is_kept(self, library: Any, web: Any) -> None:
        web.page("/page", b"# One\n\nFirst.\n", ETag='"v1"')
        library.run(web.url("/page"), kept=False)
        web.page("/page", b"# One\n\nFirst.\n", ETag='"v2"')
        for _ in range(2):
            library.run(web.url("/page"), kept=False)
        asked = [headers.get("If-None-Match") for _, headers in web.seen]
        assert asked == [None, '"v1"', '"v2"']

    def test_a_site_is_crawled_and_read_again(self, library: Any, site: Any) -> None:
        assert library.run(site.url("/"), depth=1).counts == {"added": 3}
        assert len(library.documents()) == 3
        assert library.run(site.url("/"), depth=1).counts == {"unchanged": 3}
        site.page("/a", b"<h1>New</h1><p>Other words.</p>", Content_Type="text/html")
        assert library.run(site.url("/"), depth=1).counts == {"changed": 1, "unchanged": 2}

    def test_a_page_goes_when_the_site_says_so(self, library: Any, site: Any) -> None:
        library.run(site.url("/"), depth=1, delete_missing=True)
        site.page("/", b"<h1>Home</h1><p>No links.</p>", Content_Type="text/html")
        site.page("/b", b"", 404)
        report = library.run(site.url("/"), depth=1, delete_missing=True)
        assert report.counts == {"changed": 1, "deleted": 1}
        assert set(library.documents()) == {site.url("/"), site.url("/a")}

    def test_a_sitemap_is_asked_only_for_what_has_changed(self, library: Any, site: Any) -> None:
        def sitemap(*entries: tuple[str, str]) -> None:
            inner = "".join(
                f"<url><loc>{site.url(path)}</loc><lastmod>{day}</lastmod></url>"
                for path, day in entries
            )
            site.page("/sitemap.xml", f"<urlset>{inner}</urlset>".encode())

        def run() -> dict[str, int]:
            site.seen.clear()
            counts: dict[str, int] = library.run(
                site.url("/sitemap.xml"), sitemap=True, delete_missing=True
            ).counts
            return counts

        sitemap(("/a", "2026-01-01"), ("/b", "2026-01-01"))
        assert run() == {"added": 2}
        assert run() == {"unchanged": 2}
        assert [path for path, _ in site.seen] == ["/robots.txt", "/sitemap.xml"]
        sitemap(("/a", "2026-01-02"))
        site.page("/a", b"<h1>New</h1><p>Other words.</p>", Content_Type="text/html")
        assert run() == {"changed": 1, "deleted": 1}

    def test_requests_for_changed_pages_are_spaced(
        self, make_library: Callable[..., Any], site: Any
    ) -> None:
        waits: list[float] = []

        class Stop(threading.Event):
            def wait(self, timeout: float | None = None) -> bool:
                waits.append(timeout or 0.0)
                return self.is_set()

        entries = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in ("/a", "/b"))
        site.page("/sitemap.xml", f"<urlset>{entries}</urlset>".encode())
        library = make_library(crawl_delay=0.25)
        library.run(site.url("/sitemap.xml"), sitemap=True, stop=Stop())
        assert waits == [0.25, 0.25]


class TestBuckets:
    def test_a_prefix_is_ingested_and_read_again(
        self, make_library: Callable[..., Any], s3_server: Any
    ) -> None:
        client = s3_server.client()
        for key, body in (("runs/a.md", b"# A\n\nText a.\n"), ("runs/b.md", b"# B\n\nText b.\n")):
            client.put_object(Bucket=s3_server.bucket, Key=key, Body=body)
        library = make_library(s3=s3_server.settings)
        uri = f"s3://{s3_server.bucket}/runs"
        assert library.run(uri, delete_missing=True).counts == {"added": 2}
        assert set(library.documents()) == {f"{uri}/a.md", f"{uri}/b.md"}
        assert library.run(uri, delete_missing=True).counts == {"unchanged": 2}
        client.put_object(Bucket=s3_server.bucket, Key="runs/a.md", Body=b"# A\n\nChanged.\n")
        client.delete_object(Bucket=s3_server.bucket, Key="runs/b.md")
        assert library.run(uri, delete_missing=True).counts == {"changed": 1, "deleted": 1}
        assert "Changed" in library.text(f"{uri}/a.md")

    def test_remote_callers_reach_allowed_prefixes_only(
        self, make_library: Callable[..., Any], s3_server: Any
    ) -> None:

        s3_server.client().put_object(
            Bucket=s3_server.bucket, Key="open/a.md", Body=b"# A\n\nText.\n"
        )
        library = make_library(s3=s3_server.settings, allowed_s3=[f"s3://{s3_server.bucket}/open"])
        submit = library.app.services().ingest.submit
        submit(LOCAL, IngestRequest(f"s3://{s3_server.bucket}/open/a.md"))
        with pytest.raises(FetchError) as caught:
            submit(LOCAL, IngestRequest(f"s3://{s3_server.bucket}/open-not/a.md"))
        assert caught.value.code is ErrorCode.PATH_NOT_ALLOWED
        library.finish()
        assert len(library.documents()) == 1


def test_sources_work_on_postgresql(
    make_library: Callable[..., Any], folder: Path, postgres_server: Any
) -> None:
    database = postgres_server.new_database()
    library = make_library(database=postgres_server.url(database))
    try:
        assert library.run(folder, delete_missing=True).counts == {"added": 2}
        assert library.run(folder, delete_missing=True).counts == {"unchanged": 2}
        (folder / "a.md").rename(folder / "z.md")
        counts = {"added": 1, "unchanged": 1, "deleted": 1}
        assert library.run(folder, delete_missing=True).counts == counts
        assert library.run_due(folder).counts == {"unchanged": 2}
        assert library.run_due(folder) is None
        (info,) = library.sources.list(COMMAND_LINE)
        assert library.sources.remove(COMMAND_LINE, info.source_id, documents=True) == 2
        assert library.documents() == {}
    finally:
        library.close()
        postgres_server.drop(database)


def test_only_callers_with_their_users_rights_run_sources(library: Any, folder: Path) -> None:
    with pytest.raises(EagleError) as caught:
        library.sources.run(LOCAL, library.spec(folder))
    assert caught.value.code is ErrorCode.FORBIDDEN
    with pytest.raises(EagleError):
        library.sources.list(LOCAL)


def _spec(folder: Path) -> Any:
    from eagle_rag_core.ingest.sources.items import SourceKind, SourceSpec

    return SourceSpec(SourceKind.FOLDER, file_uri(folder), "default", delete_missing=True)
