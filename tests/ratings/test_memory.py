"""What reading ratings takes: Arrow's memory is given back, and no column is kept longer than it is needed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

_N = 1_000_000
_PEAK = """
import sys
from pathlib import Path
from analysis.data.ratings.loading import load_ratings
from evalsite.lib.tables import parquet
# Not what getrusage says, which is at least what the process had from which this one was started.
peak = lambda: int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024
before = peak()
loaded = load_ratings(sys.argv[1], criteria=["adequacy"])
import pyarrow
print(peak() - before, loaded.ratings.n_items, pyarrow.default_memory_pool().backend_name)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_ratings_are_read_in_few_bytes_each(tmp_path: Path) -> None:
    row = np.arange(_N)
    columns = {"worker": row // 5_000, "assignment": row // 100, "source": row % 100_000, "system": row % 20}
    table = {name: pa.array(codes.astype(str)) for name, codes in columns.items()}
    parquet.write_table(pa.table(table | {"position": row % 100, "score": row % 101}), tmp_path / "ratings.parquet")
    command = [sys.executable, "-c", _PEAK, str(tmp_path / "ratings.parquet")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    n_bytes, n_items, allocator = printed.split()
    assert (int(n_items), allocator) == (_N, "jemalloc")
    assert int(n_bytes) < 210 * _N  # of these, 40 are the arrays that are returned
