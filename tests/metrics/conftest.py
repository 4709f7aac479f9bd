from tests.analysis.conftest import done, media, start, trees, upload

__all__ = ["done", "media", "start", "trees", "upload"]
