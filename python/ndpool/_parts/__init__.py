"""How a pool of a chunked array is cut into tasks: tables of parts, and what a task does.

Knows no engine: an adapter (`ndpool.dask`) turns the tables into its own graph. All arithmetic of
windows is that of the compiled module, which is asked once for every axis.
"""
