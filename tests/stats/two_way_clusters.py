"""Write two_way_clusters.json: variances of differences of systems by statsmodels 0.15.0, in clusters of two kinds.

    pip install statsmodels==0.15.0
    python -m tests.stats.two_way_clusters

statsmodels is too large to be installed for the tests alone.
"""

import json
from pathlib import Path

import numpy as np

PATH = Path(__file__).with_suffix(".json")
N_SYSTEMS = 4


def ratings():
    """z, system, worker, source of 120 ratings of four systems by nine workers on fourteen sources, none balanced."""
    rng = np.random.default_rng(11)
    worker, source = rng.integers(0, 9, 120), rng.integers(0, 14, 120)
    system = (rng.integers(0, 6, 120) + source) % N_SYSTEMS
    liking, output = rng.normal(0, 0.4, (9, N_SYSTEMS)), rng.normal(0, 0.5, (14, N_SYSTEMS))
    z = 0.3 * system + liking[worker, system] + output[source, system] + rng.normal(0, 0.8, 120)
    return z.round(3), system, worker, source


def main():
    import statsmodels.api as sm
    from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

    z, system, worker, source = ratings()
    design = np.hstack([np.eye(N_SYSTEMS)[system][:, 1:], np.eye(14)[source]])
    fit = sm.OLS(z, design).fit()
    both, of_worker, of_source = cov_cluster_2groups(fit, worker, source, use_correction=False)
    rows = []
    for i in range(N_SYSTEMS):
        for j in range(i):
            contrast = np.zeros(design.shape[1])
            contrast[i - 1] = 1
            if j:
                contrast[j - 1] = -1
            of_cell = of_worker + of_source - both
            variances = [float(contrast @ matrix @ contrast) for matrix in (of_worker, of_source, of_cell)]
            rows.append({"pair": [i, j], "difference": float(contrast @ fit.params), "variances": variances})
    PATH.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
