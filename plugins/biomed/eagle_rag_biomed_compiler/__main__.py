"""``python -m eagle_rag_biomed_compiler`` is the command ``eagle-rag-biomed``."""

from __future__ import annotations

from eagle_rag_biomed_compiler.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
