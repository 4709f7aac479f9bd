from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "evalsite.audit"
    label = "audit"
