from django.apps import AppConfig


class CrowdConfig(AppConfig):
    name = __name__.rpartition(".")[0]
