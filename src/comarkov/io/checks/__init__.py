"""Scripts that read a file from end to end, each run as a process by ``data.isolated``."""
