"""How the parts of a sweep are computed: by threads, from disk, or on Dask."""
