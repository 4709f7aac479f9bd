"""Addresses of signing in and out, of changing a password and of tokens."""

from operator import methodcaller

from django.contrib.auth import views
from django.urls import path, reverse_lazy

from evalsite.accounts.views import AskForReset, ChangePassword, Reset, ResetSent, SignIn, proxy_sign_in, revoke, tokens
from evalsite.lib.late import LateModule

oidc_views = LateModule("evalsite.accounts.oidc_views")
second_factor_views = LateModule("evalsite.accounts.second_factor_views")

app_name = "accounts"
urlpatterns = [
    path(
        "sign-in/",
        SignIn.as_view(template_name="accounts/sign_in.html", redirect_authenticated_user=True),
        name="sign_in",
    ),
    path("sign-in/proxy/", proxy_sign_in, name="proxy_sign_in"),
    path("sign-in/provider/", oidc_views.start, name="oidc_start"),
    path("sign-in/provider/answer/", oidc_views.callback, name="oidc_callback"),
    path("connection/", oidc_views.connection, name="connection"),
    path("connection/off/", oidc_views.disconnect, name="disconnect"),
    path("sign-in/code/", second_factor_views.second_step, name="second_step"),
    path("second-factor/", second_factor_views.second_factor, name="second_factor"),
    path("second-factor/off/", second_factor_views.turn_off, name="second_factor_off"),
    path("second-factor/recovery-codes/", second_factor_views.recovery_codes, name="recovery_codes"),
    path("sign-out/", oidc_views.SignOut.made_by(methodcaller("as_view")), name="sign_out"),
    path(
        "password/",
        ChangePassword.as_view(
            template_name="accounts/form.html",
            success_url=reverse_lazy("accounts:password_changed"),
            extra_context={"title": "Change password", "action": "Change password"},
        ),
        name="password",
    ),
    path(
        "password/changed/",
        views.PasswordChangeDoneView.as_view(
            template_name="accounts/notice.html",
            extra_context={"title": "Password changed", "notice": "You can use your new password now."},
        ),
        name="password_changed",
    ),
    path(
        "reset/",
        AskForReset.as_view(
            template_name="accounts/form.html",
            email_template_name="accounts/reset_email.txt",
            subject_template_name="accounts/reset_subject.txt",
            success_url=reverse_lazy("accounts:reset_sent"),
            extra_context={"title": "Reset password", "action": "Send me a link"},
        ),
        name="reset",
    ),
    path(
        "reset/sent/",
        ResetSent.as_view(
            template_name="accounts/notice.html",
            extra_context={
                "title": "Check your mail",
                "notice": "If an account has that address, a link to choose a new password is on its way.",
            },
        ),
        name="reset_sent",
    ),
    path(
        "reset/<uidb64>/<token>/",
        Reset.as_view(
            template_name="accounts/form.html",
            success_url=reverse_lazy("accounts:reset_done"),
            extra_context={"title": "Choose a new password", "action": "Save password"},
        ),
        name="reset_confirm",
    ),
    path(
        "reset/done/",
        views.PasswordResetCompleteView.as_view(
            template_name="accounts/notice.html",
            extra_context={"title": "Password saved", "notice": "You can sign in with it now."},
        ),
        name="reset_done",
    ),
    path("tokens/", tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", revoke, name="revoke_token"),
]
