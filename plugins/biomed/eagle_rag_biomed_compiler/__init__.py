"""Tools of eagle-rag-biomed: compile vocabularies, learn stop-terms.

They write files, which the pack itself never does; the server does not import them.
"""
