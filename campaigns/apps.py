from django.apps import AppConfig


class CampaignsConfig(AppConfig):
    name = __name__.rpartition(".")[0]
