"""Plug-ins of this site, by the places of their classes and functions: a file or folder, and a line here.

Settings have these lists under the same names; where there are no settings, as in a notebook, these are used
(`evalsite.lib.plugins.listed`).
"""

EVALSITE_PROTOCOLS = [
    "campaigns.protocols.mrc.MrcAdequacy",
    "campaigns.protocols.mrc.MrcFluency",
    "campaigns.protocols.qg.QuestionGeneration",
    "campaigns.protocols.custom.Translation",
    "campaigns.protocols.custom.Summary",
    "campaigns.protocols.custom.Likert",
    "campaigns.protocols.preference.Preference",
    "campaigns.protocols.ranking.Ranking",
    "campaigns.protocols.ranking.BestWorst",
    "campaigns.protocols.magnitude.RankMe",
    "campaigns.protocols.magnitude.MagnitudeEstimation",
    "campaigns.protocols.document.Mqm",
    "campaigns.protocols.document.Esa",
    "campaigns.protocols.document.Sqm",
    "campaigns.protocols.document.DocumentAssessment",
    "campaigns.protocols.custom.Custom",
    "campaigns.protocols.dialogue.DialogueFree",
    "campaigns.protocols.dialogue.DialogueIcebreaker",
    "campaigns.protocols.compare_chats.CompareChats",
    "campaigns.protocols.dialogue.StaticDialogue",
    "campaigns.protocols.dialogue.DialogueTurn",
    "campaigns.protocols.ssa.SensibleSpecific",
    "campaigns.protocols.ssa.SensibleSpecificChats",
    "campaigns.protocols.fact_count.FactCount",
    "campaigns.protocols.option_selection.OptionSelection",
    "campaigns.protocols.post_edit.PostEdit",
    "campaigns.protocols.language_models.LlmAnswer",
    "campaigns.protocols.language_models.LlmPair",
    "campaigns.protocols.language_models.WholeConversation",
    "campaigns.protocols.language_models.AgentTrace",
    "campaigns.protocols.code_review.CodeReview",
    "campaigns.protocols.caption.Caption",
    "campaigns.protocols.document.ContrastiveEsa",
]

EVALSITE_FORMATS = [
    "campaigns.formats.text.PlainText",
    "campaigns.formats.dialogue.Dialogue",
    "campaigns.formats.dialogue.Reply",
    "campaigns.formats.markdown.Markdown",
    "campaigns.formats.code.Code",
    "campaigns.formats.code.Difference",
    "campaigns.formats.html.Html",
    "campaigns.formats.json_tree.JsonTree",
    "campaigns.formats.conversation.Conversation",
    "campaigns.formats.trace.AgentTrace",
    "campaigns.formats.image.Image",
]

EVALSITE_RESPONSES = [
    "campaigns.responses.slider.Slider",
    "campaigns.responses.scale.Scale",
    "campaigns.responses.number.Number",
    "campaigns.responses.choice.Choice",
    "campaigns.responses.step.FirstWrongStep",
    "campaigns.responses.text.FreeText",
    "campaigns.responses.spans.Spans",
    "campaigns.responses.edit.Edit",
    "campaigns.responses.preference.Preference",
    "campaigns.responses.best_worst.BestWorst",
    "campaigns.responses.ranking.Ranking",
]

EVALSITE_PLATFORMS = [
    "campaigns.platforms.link.plugin.Link",
    "campaigns.platforms.mturk.plugin.MTurk",
    "campaigns.platforms.prolific.plugin.Prolific",
]

EVALSITE_CONNECTORS = [
    "campaigns.connectors.openai_chat.plugin.OpenAIChat",
    "campaigns.connectors.http_json.plugin.HttpJson",
    "campaigns.connectors.python.plugin.PythonClass",
    "campaigns.connectors.retrieval.plugin.Retrieval",
    "campaigns.connectors.degraded.plugin.Degraded",
]

# What the overview of a launched campaign shows; the first that has something to do is what to do next.
EVALSITE_OVERVIEW = [
    "crowd.overview.platform_part",
    "annotation.monitoring.overview.progress_part",
    "analysis.web.overview.stopping_part",
    "analysis.web.overview.finding_part",
]

# What side bars say of the results of a launched campaign, in a few words.
EVALSITE_RESULTS_STATE = "analysis.web.overview.results_state"

# What each app keeps of a campaign; those that refer to rows of others first.
EVALSITE_RECORDS = [
    "api.records.ApiRecords",
    "crowd.records.CrowdRecords",
    "analysis.web.records.AnalysisRecords",
    "annotation.records.AnnotationRecords",
    "campaigns.services.deletion.CampaignRecords",
]

# How each kind of response is read and analysed; a protocol names its method.
EVALSITE_RESPONSE_METHODS = [
    "analysis.methods.direct_assessment.DirectAssessmentMethod",
    "analysis.methods.spans.Spans",
    "analysis.methods.esa.Esa",
    "analysis.methods.ordinal.Ordinal",
    "analysis.methods.preference.Preference",
    "analysis.methods.ranking.Ranking",
    "analysis.methods.best_worst.BestWorst",
    "analysis.methods.choice.Choice",
    "analysis.methods.edits.PostEdits",
    "analysis.methods.fact_count.FactCount",
    "analysis.methods.magnitude.Magnitude",
    "analysis.methods.ssa.Ssa",
]

# The parts of direct assessment.
EVALSITE_METHODS = [
    "analysis.methods.study.direct_assessment.DirectAssessment",
    "analysis.methods.study.recommended_comparison.RecommendedComparison",
    "analysis.methods.study.core_statistics.CoreStatistics",
    "analysis.methods.study.dialogue.Dialogue",
    "analysis.methods.study.replies.Replies",
    "analysis.methods.study.contrasts.Contrasts",
    "analysis.methods.study.corpus.CorpusComparison",
    "analysis.methods.study.pools.Pools",
    "analysis.methods.study.criteria.BetweenCriteria",
]

# Questions that are asked of responses of every kind, in the order of their sections.
EVALSITE_QUESTIONS = [
    "analysis.questions.pairs.Pairs",
    "analysis.questions.reliability.Reliability",
    "analysis.questions.halves.Halves",
    "analysis.questions.pools.Pools",
    "analysis.questions.circular_triads.CircularTriads",
    "analysis.questions.sensitivity.Sensitivity",
    "analysis.questions.metrics.Metrics",
    "analysis.questions.metric_votes.MetricVotes",
    "analysis.questions.assistance.Assistance",
]

# Kinds of metrics that can be computed from outputs and references.
EVALSITE_METRICS = [
    "analysis.metrics.kinds.bleu.Bleu",
    "analysis.metrics.kinds.bleu.Gleu",
    "analysis.metrics.kinds.rouge.RougeL",
    "analysis.metrics.kinds.meteor.Meteor",
    "analysis.metrics.kinds.edits.Chrf",
    "analysis.metrics.kinds.edits.Ter",
    "analysis.metrics.kinds.qbleu.QBleu",
    "analysis.metrics.kinds.qascore.QAScore",
    "analysis.metrics.kinds.bertscore.BertScore",
    "analysis.metrics.kinds.fed.FedReply",
    "analysis.metrics.kinds.fed.FedDialogue",
    "analysis.metrics.kinds.usr.UsrMasked",
    "analysis.metrics.kinds.usr.UsrRetrieval",
    "analysis.metrics.kinds.usr.UsrFact",
]

# Says whether an address was invited, by apps that invite people.
EVALSITE_INVITED = ["campaigns.invitations.is_invited"]
