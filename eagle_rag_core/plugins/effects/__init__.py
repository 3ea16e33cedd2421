"""What a pack's tool does besides answering: seen through Python's audit events, and refused.

The guard of names (:mod:`eagle_rag_core.plugins.guard`) holds tools to what they say; this room
holds them to what they do. Both are lints with teeth and no sandbox: code in the same process can
reach around either, and ``docs/conformance.md`` says what stays unseen.
"""
