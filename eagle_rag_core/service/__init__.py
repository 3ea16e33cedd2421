"""What every face calls: one small service per subject."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eagle_rag_core.service.answer import AnswerService
    from eagle_rag_core.service.descriptions import DescriptionService
    from eagle_rag_core.service.documents import DocumentService
    from eagle_rag_core.service.files import FileService
    from eagle_rag_core.service.ingest import IngestService
    from eagle_rag_core.service.jobs import JobService
    from eagle_rag_core.service.kbs import KbService
    from eagle_rag_core.service.pages import PageService
    from eagle_rag_core.service.reading import ReadingService
    from eagle_rag_core.service.search import SearchService
    from eagle_rag_core.service.sources import SourceService
    from eagle_rag_core.service.upkeep import Upkeep
    from eagle_rag_core.service.uploads import UploadService
    from eagle_rag_core.service.visual import VisualService


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one app."""

    ingest: IngestService
    uploads: UploadService
    jobs: JobService
    search: SearchService
    answer: AnswerService
    documents: DocumentService
    reading: ReadingService
    descriptions: DescriptionService
    files: FileService
    pages: PageService
    kbs: KbService
    sources: SourceService
    upkeep: Upkeep
    visual: VisualService
