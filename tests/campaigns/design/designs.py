"""Mixes of any size, pools of outputs, and the rules that every plan keeps."""

import numpy as np
from hypothesis import strategies as st

from campaigns.design.composition import Kind, Layout, Mix
from campaigns.design.errors import DesignError

seeds = st.integers(0, 2**32)


@st.composite
def mixes(draw, layout=Layout.POOLED, max_ordinary=12):
    """Any mix of the layout that can be built."""
    counts = [draw(st.integers(1, max_ordinary)), *(draw(st.integers(0, 6)) for _ in range(3))]
    if layout is Layout.BY_SYSTEM:
        return Mix(counts[0], counts[1], layout=layout)
    has_anchor = layout is Layout.BY_SOURCE and draw(st.booleans())
    flags = {"has_distinct_twins": draw(st.booleans()), "has_anchor": has_anchor}
    try:
        return Mix(*counts, layout=layout, **flags)
    except DesignError:
        return Mix(sum(counts) + 1, *(c + has_anchor for c in counts[1:]), layout=layout, **flags)


def grid(n_sources, n_systems):
    """Source and system of the outputs of every system for every source."""
    source, system = np.indices((n_sources, n_systems))
    return source.ravel(), system.ravel()


def rows(plan, mix):
    """The plan's arrays, one row a HIT."""
    hits = plan.hits
    shape = (plan.totals.n_hits, mix.size)
    return {name: getattr(hits, name).reshape(shape) for name in ("hit", "position", "output", "kind", "twin_position")}


def assert_sound(plan, mix, source, system):
    """Assert what METHOD §1 and §2 say of every HIT with twins."""
    table = rows(plan, mix)
    size = mix.size
    assert (table["hit"] == np.arange(plan.totals.n_hits)[:, None]).all()
    assert (table["position"] == np.arange(1, size + 1)).all()
    wanted = [mix.n_ordinary, *(count for _, count in mix.copies)]
    for output, kind, twin in zip(table["output"], table["kind"], table["twin_position"], strict=True):
        assert np.bincount(kind, minlength=4).tolist() == wanted
        ordinary = output[kind == Kind.ORDINARY]
        assert len(set(zip(source[ordinary], system[ordinary], strict=True))) == mix.n_ordinary
        is_copy = kind != Kind.ORDINARY
        assert (twin[~is_copy] == -1).all()
        assert (kind[twin[is_copy] - 1] == Kind.ORDINARY).all()
        assert (output[twin[is_copy] - 1] == output[is_copy]).all()
        assert (output[1:] != output[:-1]).all()  # twins, and copies of one output, are never neighbours
        for copy_kind, _ in mix.copies:
            twins = twin[kind == copy_kind]
            assert len(set(twins.tolist())) == twins.size
        if mix.has_distinct_twins:
            n_shared = is_copy.sum() - len(set(twin[is_copy].tolist()))
            assert n_shared == mix.has_anchor
