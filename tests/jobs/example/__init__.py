"""An app with a job of each fate, for the tests of jobs."""
