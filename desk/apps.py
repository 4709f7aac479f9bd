from django.apps import AppConfig


class DeskConfig(AppConfig):
    name = __name__.rpartition(".")[0]
