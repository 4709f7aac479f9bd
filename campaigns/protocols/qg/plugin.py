"""Question generation (thesis Table 4.1)."""

from campaigns.contracts.protocol import CriterionSpec, Protocol


class QuestionGeneration(Protocol):
    """A worker sees a passage with the answer highlighted, and a question generated from them."""

    slug = "qg"
    title = "Question generation"
    summary = "Is the generated question understandable, relevant, answerable and well put?"
    criteria = (
        CriterionSpec("understandability", "The question is easy to understand."),
        CriterionSpec("relevancy", "The question is highly relevant to the content of the passage."),
        CriterionSpec("answerability", "The question can be fully answered by the passage."),
        CriterionSpec("appropriateness", "The question word (where, when, how, etc.) is fully appropriate."),
    )
    worker_test = "paired-wilcoxon"
