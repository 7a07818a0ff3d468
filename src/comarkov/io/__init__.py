"""Files: reading data, stores on disk, data sets, and atomic writing."""
