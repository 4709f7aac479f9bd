"""How long jobs, workers and sweepers wait, in seconds. The environment overrides; tests shorten."""

from evalsite.lib.env import env_int

# A worker that has not renewed its lease for this long has lost its job.
LEASE_S = env_int("JOBS_LEASE_S", 60)
# How often the sweeper looks for jobs that nobody runs.
SWEEP_S = env_int("JOBS_SWEEP_S", 10)
# The first pause before a job that met a passing fault is tried again; each further pause is twice as long.
BACKOFF_S = env_int("JOBS_BACKOFF_S", 10)
# How often a worker says that it lives, and the silence after which it is taken for dead.
HEARTBEAT_S = env_int("JOBS_HEARTBEAT_S", 10)
SILENCE_S = env_int("JOBS_SILENCE_S", 30)
# How often a running job's progress is written, if it changed.
PROGRESS_S = 0.25
