"""How static files are named for the browser's cache."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ManifestStaticStorage(CompressedManifestStaticFilesStorage):
    """Content-hashed names, also inside `import` lines of JavaScript modules."""

    support_js_module_import_aggregation = True
