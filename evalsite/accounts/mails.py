"""Mails that administrators send: links, and one to oneself. What is wrong with the mail server is said in words."""

import logging
import smtplib
import socket
import ssl
from datetime import datetime

from django.conf import settings
from django.core.mail import get_connection, send_mail
from django.template.loader import render_to_string

from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError

logger = logging.getLogger(__name__)


def mail_password_link(*, user: User, url: str, expires_at: datetime, is_invitation: bool, by: User) -> None:
    """Mail a link to choose a password; raise DomainError `mail_failed`."""
    context = {"user": user, "url": url, "expires_at": expires_at, "is_invitation": is_invitation, "by": by}
    subject = "Invitation to evalsite" if is_invitation else "New password for evalsite"
    _send(subject, render_to_string("accounts/link_email.txt", context), to=user.email)


def mail_member_invitation(*, to: str, url: str, expires_at: datetime, campaign: str, role: str, by: User) -> None:
    """Mail a link to join a campaign, with or without an account; raise DomainError `mail_failed`."""
    context = {"email": to, "url": url, "expires_at": expires_at, "campaign": campaign, "role": role, "by": by}
    _send("Invitation to a campaign on evalsite", render_to_string("accounts/member_email.txt", context), to=to)


def mail_test(*, to: str, url: str) -> None:
    """Send a mail that says that mail works; raise DomainError `mail_failed`."""
    _send("Test of the mail settings", f"Mail from evalsite at {url} arrives.\n", to=to)


def find_mail_fault() -> str:
    """Return what is wrong with the mail server, in words; an empty text if it takes our connection and password."""
    connection = get_connection()
    try:
        connection.open()
    except OSError as error:
        return explain_mail_error(error)
    finally:
        connection.close()
    return ""


def _send(subject: str, text: str, *, to: str) -> None:
    connection = get_connection()
    try:
        try:
            send_mail(subject, text, None, [to], connection=connection)
        finally:
            connection.close()  # Django leaves one open on which encryption could not begin
    except OSError as error:  # those of SMTP and TLS are among them
        logger.warning("A mail was not sent: %s: %s", type(error).__name__, error)
        raise DomainError("mail_failed", f"No mail was sent: {explain_mail_error(error)}") from None


def explain_mail_error(error: OSError) -> str:
    """Say what is wrong, and which part of EMAIL_URL or DEFAULT_FROM_EMAIL it is about."""
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    match error:
        case smtplib.SMTPAuthenticationError():
            return f"{server} refuses the user or the password of EMAIL_URL (it answers {_answer(error)})."
        case smtplib.SMTPSenderRefused():
            return f"{server} takes no mail from {error.sender}, the DEFAULT_FROM_EMAIL (it answers {_answer(error)})."
        case smtplib.SMTPRecipientsRefused():
            refused = "; ".join(f"{to}: {_text(answer)}" for to, (_, answer) in error.recipients.items())
            return f"{server} does not take mail for this address ({refused})."
        case smtplib.SMTPNotSupportedError():
            return f"{server} does not support what EMAIL_URL asks for: {error}. For a server without TLS add ?tls=0."
        case smtplib.SMTPServerDisconnected():
            return f"{server} ended the connection. With port 465, EMAIL_URL has to begin with smtps://."
        case smtplib.SMTPResponseException():
            return f"{server} answers {_answer(error)}."
        case ssl.SSLError():
            return f"the encryption of the connection to {server} failed: {error}. Does EMAIL_URL need smtps://?"
        case socket.gaierror():
            return f"the name {settings.EMAIL_HOST} of EMAIL_URL cannot be resolved. Check it for typing errors."
        case TimeoutError():
            return f"{server} did not answer in {settings.EMAIL_TIMEOUT} seconds. Check the port, and the firewall."
        case ConnectionRefusedError():
            return f"nothing listens at {server}. Check the host and the port of EMAIL_URL."
    return f"{server} cannot be used: {error}."


def _answer(error: smtplib.SMTPResponseException) -> str:
    return f"{error.smtp_code} {_text(error.smtp_error)}".strip()


def _text(answer: bytes | str) -> str:
    return answer.decode(errors="replace") if isinstance(answer, bytes) else answer
