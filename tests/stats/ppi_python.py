"""Write ppi_python.json: intervals of a mean by ppi-python 0.2.3, the program of Angelopoulos et al.

    pip install ppi-python==0.2.3
    python -m tests.stats.ppi_python

ppi-python needs numba, pandas and scikit-learn, which are too large to be installed for the tests alone.
"""

import json
from pathlib import Path

import numpy as np

PATH = Path(__file__).with_suffix(".json")
N_RATED, N_UNRATED, ALPHA = 80, 720, 0.1


def labels():
    """Labels of rated outputs, and a metric of the rated and of the unrated ones, whose means are not the same."""
    rng = np.random.default_rng(23)
    truth = rng.normal(0, 1, N_RATED + N_UNRATED)
    metric = (0.5 + 0.8 * truth + rng.normal(0, 0.6, truth.size)).round(3)
    return (truth + rng.normal(0, 0.7, truth.size)).round(3)[:N_RATED], metric[:N_RATED], metric[N_RATED:]


def main():
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    rated, metric, unrated = labels()
    level = unrated - unrated.mean() + metric.mean()  # the metric's means are the same
    rows = []
    for lam in (None, 0.0, 0.2, 0.4, 0.6, 0.8):
        low, high = ppi_mean_ci(rated, metric, level, alpha=ALPHA, lam=lam)
        estimate = ppi_mean_pointestimate(rated, metric, unrated, lam=lam)
        rows.append({"lam": lam, "estimate": float(np.squeeze(estimate)), "low": float(low[0]), "high": float(high[0])})
    PATH.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
