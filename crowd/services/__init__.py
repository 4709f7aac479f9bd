"""Writing: one verb a function, one transaction each; calls to the platform are between transactions."""
