"""Addresses of the set-up pages."""

from django.urls import include, path

from evalsite.lib.late import LateModule

archive = LateModule("campaigns.views.archive")
audit = LateModule("campaigns.views.audit")
campaigns = LateModule("campaigns.views.campaigns")
chatbots = LateModule("campaigns.views.chatbots")
choosing = LateModule("campaigns.views.choosing")
commands = LateModule("campaigns.views.commands")
criteria = LateModule("campaigns.views.criteria")
data = LateModule("campaigns.views.data")
design = LateModule("campaigns.views.design")
joining = LateModule("campaigns.views.joining")
members = LateModule("campaigns.views.members")
screen = LateModule("campaigns.views.screen")
settings = LateModule("campaigns.views.settings")
systems = LateModule("campaigns.views.systems")
webhooks = LateModule("campaigns.views.webhooks")

app_name = "campaigns"

_OF_ONE = [
    path("", campaigns.campaign, name="campaign"),
    path("data/", data.data, name="data"),
    path("data/files/<str:digest>.webp", data.stored_file, name="stored_file"),
    path("data/upload/", data.upload, name="upload"),
    path("data/example-<slug:shape>.csv", data.example, name="example"),
    path("data/<uuid:upload_id>/", data.columns, name="columns"),
    path("data/<uuid:upload_id>/protocol/", choosing.protocol, name="protocol"),
    path("data/<uuid:upload_id>/delete/", data.delete, name="upload_delete"),
    path("systems/", systems.systems, name="systems"),
    path("systems/<int:system_id>/", systems.system, name="system"),
    path("chatbots/", chatbots.chatbots, name="chatbots"),
    path("chatbots/add/", chatbots.choose, name="chatbot_choose"),
    path("chatbots/add/<slug:connector>/", chatbots.add, name="chatbot_add"),
    path("chatbots/<int:chatbot_id>/", chatbots.chatbot, name="chatbot"),
    path("chatbots/<int:chatbot_id>/secrets/", chatbots.secrets, name="chatbot_secrets"),
    path("chatbots/<int:chatbot_id>/dialogues/", chatbots.dialogues, name="chatbot_dialogues"),
    path("chatbots/<int:chatbot_id>/test/", chatbots.test, name="chatbot_test"),
    path("chatbots/<int:chatbot_id>/duplicate/", chatbots.duplicate, name="chatbot_duplicate"),
    path("chatbots/<int:chatbot_id>/remove/", chatbots.remove, name="chatbot_remove"),
    path("chat/", settings.chat, name="chat"),
    path("criteria/", criteria.criteria, name="criteria"),
    path("criteria/order/", criteria.order, name="criteria_order"),
    path("criteria/<int:criterion_id>/", criteria.criterion, name="criterion"),
    path("criteria/<int:criterion_id>/delete/", criteria.delete, name="criterion_delete"),
    path("screen/", screen.screen, name="screen"),
    path("screen/add/", screen.add_field, name="field_add"),
    path("screen/place/", screen.place_field, name="field_place"),
    path("instructions/", settings.instructions, name="instructions"),
    path("hits/", design.design, name="design"),
    path("hits/build/", design.build, name="build"),
    path("hits/preset/", design.preset, name="design_preset"),
    path("hits/proposal/", design.proposal, name="design_proposal"),
    path("hits/no-worker-test/", design.no_worker_test, name="design_no_test"),
    path("hits/seed/", design.seed, name="design_seed"),
    path("hits/own/", design.own_hits, name="own_hits"),
    path("hits/<int:number>/", design.hit, name="hit"),
    path("jobs/<uuid:job_id>/", campaigns.job, name="job"),
    path("payment/", settings.payment, name="payment"),
    path("settings/", settings.settings, name="settings"),
    path("settings/archive/", archive.archive, name="archive"),
    path("settings/webhooks/", webhooks.webhooks, name="webhooks"),
    path("settings/webhooks/<int:webhook_id>/", webhooks.webhook, name="webhook"),
    path("settings/webhooks/<int:webhook_id>/secret/", webhooks.secret, name="webhook_secret"),
    path("settings/webhooks/<int:webhook_id>/remove/", webhooks.remove, name="webhook_remove"),
    path("settings/webhooks/<int:webhook_id>/deliveries/<int:delivery_id>/", webhooks.again, name="delivery_again"),
    path("settings/audit/", audit.audit, name="audit"),
    path("settings/audit/log.csv", audit.audit_file, name="audit_file"),
    path("members/", members.members, name="members"),
    path("members/invitations/<int:member_invitation_id>/withdraw/", members.withdraw, name="invitation_withdraw"),
    path("members/<int:membership_id>/", members.member, name="member"),
    path("members/<int:membership_id>/remove/", members.remove, name="member_remove"),
    path("launch/", campaigns.launch, name="launch"),
    path("pause/", campaigns.move, {"verb": "pause"}, name="pause"),
    path("resume/", campaigns.move, {"verb": "resume"}, name="resume"),
    path("close/", campaigns.move, {"verb": "close"}, name="close"),
    path("duplicate/", campaigns.duplicate, name="duplicate"),
    path("design.json", campaigns.design_file, name="design_file"),
    path("delete/", archive.delete, name="delete"),
]

urlpatterns = [
    path("", campaigns.list_campaigns, name="list"),
    path("new/", choosing.new, name="new"),
    path("new/file/", choosing.from_file, name="new_file"),
    path("new/copy/", choosing.copy, name="new_copy"),
    path("new/design/", choosing.from_design, name="new_design"),
    path("commands/", commands.commands, name="commands"),
    path("join/<str:token>/", joining.join, name="join"),
    path("<uuid:public_id>/", include(_OF_ONE)),
]
