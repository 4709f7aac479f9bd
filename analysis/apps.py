from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = __name__.rpartition(".")[0]
