"""The report: all results on one page, which needs no network."""
