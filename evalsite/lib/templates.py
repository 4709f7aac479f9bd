"""Django's templates, which import libraries of tags when a template loads them, and let go of what they have shown.

Django imports all libraries with the first template or check; what they import is much of what a command waits for.
Its contexts refer to themselves, so a large result would stay until garbage is collected, in another reader's time.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pkgutil import walk_packages
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, Warning
from django.http import HttpRequest
from django.template import TemplateDoesNotExist
from django.template.backends.django import DjangoTemplates, Template, reraise
from django.template.context import make_context
from django.template.library import Library, import_library
from django.utils.safestring import SafeString


class Templates(DjangoTemplates):
    """The backend for `TEMPLATES`."""

    def __init__(self, params: dict[str, Any]) -> None:
        super().__init__(params)
        self.engine.libraries = dict(_installed()) | self.engine.libraries
        self.engine.template_libraries = LateLibraries(self.engine.libraries)  # type: ignore[assignment]

    def get_templatetag_libraries(self, custom_libraries: dict[str, str]) -> dict[str, str]:
        """Return the libraries that settings name, without those of apps: the engine imports what it gets at once."""
        return dict(custom_libraries)

    def from_string(self, template_code: str) -> Template:
        """Return a template of this text; raise TemplateSyntaxError."""
        return _FreeingTemplate(super().from_string(template_code).template, self)

    def get_template(self, template_name: str) -> Template:
        """Return the template of this name; raise TemplateDoesNotExist or TemplateSyntaxError."""
        return _FreeingTemplate(super().get_template(template_name).template, self)

    def _check_for_template_tags_with_the_same_name(self) -> list[CheckMessage]:
        modules = defaultdict(set)
        for name, module in (*_installed(), *self.engine.libraries.items()):
            modules[name].add(module)
        return [
            Warning(
                f"{name!r} is used for multiple template tag modules: {', '.join(map(repr, sorted(found)))}",
                obj=self,
                id="templates.W003",
            )
            for name, found in modules.items()
            if len(found) > 1
        ]


class _FreeingTemplate(Template):
    def render(self, context: dict[str, Any] | None = None, request: HttpRequest | None = None) -> SafeString:
        made = make_context(context, request, autoescape=self.backend.engine.autoescape)
        try:
            text = self.template.render(made)
        except TemplateDoesNotExist as error:
            reraise(error, self.backend)
            raise
        made.dicts.clear()  # the last of them refers to `made`
        return text


class LateLibraries(Mapping[str, Library]):
    """Libraries of tags by name; `modules` says where each is. Getting one imports it, or raises KeyError or
    `InvalidTemplateLibrary`.
    """

    def __init__(self, modules: dict[str, str]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> Library:
        return import_library(self._modules[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


def _installed() -> Iterator[tuple[str, str]]:
    """Yield the name and the module of each library of Django and of installed apps, and of modules beside these."""
    for app in ("django", *(config.name for config in apps.get_app_configs())):
        prefix = f"{app}.templatetags."
        package = find_spec(prefix.rstrip("."))
        for module in walk_packages((package and package.submodule_search_locations) or [], prefix):
            yield module.name.removeprefix(prefix), module.name
