"""Pages are tested by their examples; the programs that build the site are not modules of tests."""

collect_ignore_glob = ["*.py"]
