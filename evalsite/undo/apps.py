from django.apps import AppConfig


class UndoConfig(AppConfig):
    name = "evalsite.undo"
    label = "undo"
