"""Write crossed_effects.json: variances of crossed effects in unbalanced ratings by statsmodels 0.15.0 (REML).

    pip install statsmodels==0.15.0
    python -m tests.stats.crossed_effects

statsmodels is too large to be installed for the tests alone.
"""

import json
from pathlib import Path

import numpy as np

PATH = Path(__file__).with_suffix(".json")


def ratings():
    """z, system, worker, source of 150 ratings of three systems by seven workers on nine sources, none balanced."""
    rng = np.random.default_rng(5)
    worker, source, system = rng.integers(0, 7, 150), rng.integers(0, 9, 150), rng.integers(0, 3, 150)
    z = rng.normal(0, 0.4, 7)[worker] + rng.normal(0, 0.5, (7, 3))[worker, system] + rng.normal(0, 0.6, 9)[source]
    z += rng.normal(0, 0.5, (9, 3))[source, system] + rng.normal(0, 0.7, 150) + 0.3 * system
    return z.round(3), system, worker, source


def main():
    import pandas as pd
    import statsmodels.formula.api as smf

    z, system, worker, source = ratings()
    frame = pd.DataFrame({"z": z, "system": system, "worker": worker, "source": source, "all": 1})
    parts = {
        "worker": "0 + C(worker)",
        "worker_system": "0 + C(worker):C(system)",
        "source": "0 + C(source)",
        "output": "0 + C(source):C(system)",
    }
    model = smf.mixedlm("z ~ C(system)", frame, groups="all", re_formula="0", vc_formula=parts)
    fit = model.fit(reml=True, method=["bfgs"], gtol=1e-8)
    found = dict(zip(fit.model.exog_vc.names, map(float, fit.vcomp), strict=True)) | {"residual": float(fit.scale)}
    found |= {"log_likelihood": float(fit.llf), "differences": [float(each) for each in fit.fe_params[1:]]}
    PATH.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
