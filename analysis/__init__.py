"""What the ratings mean."""

import os

# Before NumPy is imported: our matrix products are thin, and BLAS threads that spin for them cost a busy server more
# than they save.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
