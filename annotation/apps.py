from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = __name__.rpartition(".")[0]
