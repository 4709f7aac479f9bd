"""The user, an e-mail address and a password, the tokens of their scripts, and keys of the site."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from evalsite.lib.encryption import EncryptedField

LONGEST_ADDRESS = 254
LONGEST_SUBJECT = 255


class UserManager(BaseUserManager["User"]):
    """Make users; addresses are compared without regard to case."""

    use_in_migrations = True

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Return a new user; without a password they must reset it before signing in."""
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Return a new admin."""
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        """Return the user who signs in with this address, in upper or lower case."""
        if username and len(username) > LONGEST_ADDRESS:  # SQLite compares no text of over 50,000 bytes
            raise self.model.DoesNotExist
        return self.get(email__iexact=username)


class User(AbstractBaseUser, PermissionsMixin):
    """A researcher or an admin. Workers have no account."""

    email = models.EmailField("e-mail", max_length=LONGEST_ADDRESS, unique=True)
    name = models.CharField(max_length=150, blank=True)
    is_staff = models.BooleanField("admin", default=False, help_text="May use the admin pages.")
    is_active = models.BooleanField("active", default=True, help_text="Clear it instead of deleting the user.")
    joined_at = models.DateTimeField(default=timezone.now)

    objects = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                name="accounts_user_email_any_case",
                violation_error_message="A user with this e-mail address exists.",
            )
        ]

    def __str__(self) -> str:
        return self.name or self.email


class Scope(models.TextChoices):
    """What a token may be used for. A token never does more than its user may."""

    READ = "read", "Read: everything that its user sees"
    EDIT = "edit", "Edit: set campaigns up, upload, analyse"
    LAUNCH = "launch", "Launch: launch, publish, pause and close campaigns"
    PAY = "pay", "Pay: approve, reject and pay workers, set the account’s keys"
    ADMIN = "admin", "Administer: members, deleting, workers’ own ids"


class ApiToken(models.Model):
    """What a script signs in with. Only its hash is kept, which depends on no setting of the installation."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField("SHA-256 of the token", max_length=64, unique=True)
    start = models.CharField("its first characters", max_length=12)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: never.")
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="To the minute.")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "name"], condition=models.Q(revoked_at=None), name="accounts_token_name"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.start}…)"


class SecondFactor(models.Model):
    """What a user is asked for besides the password: codes of an app. There is none before one code was right."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="second_factor")
    secret = EncryptedField("the secret that the app has, encrypted")
    last_step = models.BigIntegerField("the half minute of the last code")
    recovery_codes = models.JSONField("SHA-256 of those that were not used", default=list)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"of {self.user}"


class ProviderIdentity(models.Model):
    """Who a user is at an OpenID Connect provider. Known from the first sign-in, whatever address they have later."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=LONGEST_SUBJECT)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="accounts_identity_once"),
            models.UniqueConstraint(fields=["user", "issuer"], name="accounts_identity_of_user"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"


class KeptKey(models.Model):
    """A key of names that stay the same when SECRET_KEY changes; `evalsite.lib.kept_keys` says which there are."""

    purpose = models.CharField(max_length=60, primary_key=True)
    key = models.CharField("64 hexadecimal digits", max_length=64)

    def __str__(self) -> str:
        return self.purpose
