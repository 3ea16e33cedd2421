"""The command line, and the processes it starts.

Distributions whose entry points cannot be read are made to count as having none, before any module
in here imports a library that reads those of all.
"""

from eagle_rag_core.plugins.neighbours import tolerate_broken_neighbours

tolerate_broken_neighbours()
