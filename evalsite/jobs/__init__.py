"""Work that outlives a request: a row in the database, run by a worker, re-run if the worker dies."""
