"""`evalsite serve`, `worker`, `check`, `backup` and `restore`."""
