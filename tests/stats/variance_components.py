"""Write variance_components.json: variances in balanced ratings by statsmodels 0.15.0 (REML).

    pip install statsmodels==0.15.0
    python -m tests.stats.variance_components

statsmodels is too large to be installed for the tests alone.
"""

import json
from pathlib import Path

import numpy as np

PATH = Path(__file__).with_suffix(".json")
N_SYSTEMS, N_WORKERS, N_SOURCES, N_EACH = 4, 6, 8, 2


def ratings():
    """Points, system, worker, source: every worker rates every output twice, so that nothing is confounded."""
    rng = np.random.default_rng(3)
    system, worker, source, _ = np.indices((N_SYSTEMS, N_WORKERS, N_SOURCES, N_EACH)).reshape(4, -1)
    points = 50 + rng.normal(0, 6, N_SYSTEMS)[system] + rng.normal(0, 9, N_WORKERS)[worker]
    points += rng.normal(0, 10, N_SOURCES)[source] + rng.normal(0, 7, (N_WORKERS, N_SYSTEMS))[worker, system]
    points += rng.normal(0, 8, (N_SOURCES, N_SYSTEMS))[source, system] + rng.normal(0, 12, system.size)
    return points.round(1), system, worker, source


def main():
    import pandas as pd
    import statsmodels.formula.api as smf

    points, system, worker, source = ratings()
    frame = pd.DataFrame({"y": points, "system": system, "worker": worker, "source": source, "all": 1})
    parts = {
        "system": "0 + C(system)",
        "worker": "0 + C(worker)",
        "source": "0 + C(source)",
        "worker x system": "0 + C(worker):C(system)",
        "source x system": "0 + C(source):C(system)",
    }
    fit = smf.mixedlm("y ~ 1", frame, groups="all", re_formula="0", vc_formula=parts).fit(reml=True)
    found = dict(zip(fit.model.exog_vc.names, map(float, fit.vcomp), strict=True)) | {"residual": float(fit.scale)}
    PATH.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
