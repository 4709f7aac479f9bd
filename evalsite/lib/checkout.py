"""In a checkout the apps are called `evalsite.campaigns`, too, as in a wheel: plug-ins of others import that."""

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from evalsite.lib.folders import APPS, IS_INSTALLED


class _Apps(MetaPathFinder, Loader):
    """Finds `evalsite.campaigns.contracts` as the module `campaigns.contracts`: there is one of each."""

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        package, _, rest = name.partition(".")
        is_ours = package == "evalsite" and rest.partition(".")[0] in APPS
        return ModuleSpec(name, self) if is_ours else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(spec.name.partition(".")[2])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # It has run under its own name, which it keeps.
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def name_apps() -> None:
    """Let `evalsite.campaigns` be found where the apps lie at the top."""
    if not IS_INSTALLED and not any(isinstance(finder, _Apps) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Apps())  # before the finder of files, which would load them a second time
