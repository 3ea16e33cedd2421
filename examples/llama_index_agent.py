"""The library as a LlamaIndex retriever and query engine.

    eagle-rag ingest examples/corpus
    python examples/llama_index_agent.py "How do I descale the coffee machine?"

Needs no language model. Give the engine to ``QueryEngineTool`` to let an agent of yours ask it.
"""

from __future__ import annotations

import sys

from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.integrations.llama_index import EagleRouterQueryEngine, KnowhereGraphRetriever


def main(question: str) -> None:
    with Start().app() as app:
        retriever = KnowhereGraphRetriever(app, top_k=3)
        fused = QueryFusionRetriever([retriever], llm=MockLLM(), num_queries=1)
        for found in fused.retrieve(question):
            print(f"- {found.node.metadata['title']}: {found.node.metadata['path']}")
        print(EagleRouterQueryEngine(app).query(question))


if __name__ == "__main__":
    main(sys.argv[1])
