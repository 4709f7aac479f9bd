from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "evalsite.accounts"
    label = "accounts"
