"""``python -m eagle_rag_lakehouse_cli``."""

from __future__ import annotations

from eagle_rag_lakehouse_cli.main import main

if __name__ == "__main__":
    main()
