"""What the columns of responses mean: said once, for the metadata of every file that has them."""

from evalsite.lib.tables.croissant import Column, Holds

_TEXT, _WHOLE, _NUMBER, _TIME, _BOOLEAN = Holds.TEXT, Holds.WHOLE, Holds.NUMBER, Holds.TIME, Holds.BOOLEAN

_MEANINGS: dict[str, tuple[Holds, str]] = {
    "worker": (_TEXT, "who answered: a keyed hash"),
    "rater": (_TEXT, "who marked the error: a keyed hash"),
    "assignment": (_TEXT, "one worker’s work on one HIT"),
    "hit": (_TEXT, "the HIT, a set of items that are given out together"),
    "position": (_WHOLE, "the place of the item in the HIT, from 1"),
    "page": (_WHOLE, "the page of the HIT with several items"),
    "turn": (_WHOLE, "the rated reply of a chat; empty for the whole chat"),
    "source": (_TEXT, "what the output was made from, by name; in marked errors its text"),
    "system": (_TEXT, "the system that made the output"),
    "kind": (_TEXT, "what the item is: ordinary, or for quality control degraded, repeat or reference"),
    "criterion": (_TEXT, "the criterion that was judged"),
    "score": (_NUMBER, "the score as the worker gave it; negative criteria are not reversed"),
    "pool": (_TEXT, "the pool of the worker, such as crowd or experts"),
    "weight": (_NUMBER, "what the assignment weighs in results"),
    "draw_weight": (_NUMBER, "what the answer weighs, as HITs were not drawn with equal probabilities"),
    # Times and states
    "state": (_TEXT, "the state of the assignment, or of the chat"),
    "assignment_state": (_TEXT, "the state of the assignment"),
    "rated_at": (_TIME, "when the answer was given, in UTC"),
    "started": (_TIME, "when the assignment began, in UTC"),
    "last_rated": (_TIME, "when the worker answered last, in UTC"),
    "ended": (_TIME, "when the assignment ended, in UTC"),
    "seconds": (_NUMBER, "how many seconds it took"),
    "work_seconds": (_NUMBER, "how many seconds the assignment took"),
    "items": (_WHOLE, "how many items the HIT has"),
    "items_rated": (_WHOLE, "how many items of the HIT were rated"),
    "accessible": (_BOOLEAN, "whether the worker read real text instead of images"),
    "feedback": (_TEXT, "what the worker wrote at the end"),
    "consent_version": (_TEXT, "the version of the consent text: the first digits of its SHA-256"),
    "consented_at": (_TIME, "when the worker agreed to the consent text, in UTC"),
    "draw_probability": (_NUMBER, "the probability with which the HIT was drawn"),
    "even_probability": (_NUMBER, "the probability with which it would have been drawn if all were equal"),
    # Answers of other kinds
    "response": (_TEXT, "an answer without a score: a text, or a JSON list of options"),
    "abstained": (_TEXT, "why the worker could not judge"),
    "answer": (_TEXT, "the option, or options, that the worker chose"),
    "correct": (_TEXT, "the correct answer, or how many facts are correct"),
    "present": (_WHOLE, "how many facts the output has"),
    "missing": (_WHOLE, "how many facts the output lacks"),
    "value": (_NUMBER, "the magnitude that the worker gave"),
    "reference": (_NUMBER, "the magnitude of the reference that it was compared with"),
    "output": (_TEXT, "the text as it was shown"),
    "edited": (_TEXT, "the text as the worker corrected it"),
    "keystrokes": (_WHOLE, "how many keys the worker pressed in it"),
    "text": (_TEXT, "the text as it was shown"),
    "twin_position": (_WHOLE, "the place of the item that this one is a copy of"),
    # Marked errors
    "doc": (_TEXT, "the document"),
    "doc_id": (_TEXT, "the place of the document"),
    "seg_id": (_TEXT, "the segment of the document"),
    "document": (_TEXT, "the document"),
    "target": (_TEXT, "the output; a marked error stands between <v> and </v>"),
    "category": (_TEXT, "the category of the error"),
    "severity": (_TEXT, "how severe the error is"),
    "comment": (_TEXT, "what the worker wrote about the error"),
    "errors": (_TEXT, "the errors that the worker marked in the output, as JSON"),
    # Comparisons
    "system_a": (_TEXT, "the system whose output was shown first"),
    "system_b": (_TEXT, "the system whose output was shown second"),
    "winner": (_TEXT, "which of the two outputs the worker preferred"),
    "strength": (_NUMBER, "how strongly"),
    "degraded": (_WHOLE, "the place of the degraded output, from 1; 0 if there is none"),
    "rank": (_NUMBER, "the rank that the worker gave, 1 for the best"),
    "best": (_TEXT, "the system whose output the worker called the best"),
    "worst": (_TEXT, "the system whose output the worker called the worst"),
    **{f"system_{n}": (_TEXT, f"the system whose output was shown at place {n}") for n in range(1, 11)},
    # Chats
    "topic": (_TEXT, "the topic of the chat"),
    "opinion": (_TEXT, "what the worker thinks of the topic"),
    "worker_inputs": (_WHOLE, "how many inputs the worker wrote"),
    "worker_words": (_WHOLE, "how many words the worker wrote"),
    "worker_chars": (_WHOLE, "how many characters the worker wrote"),
    "minutes": (_NUMBER, "how many minutes the chat took"),
    "n_topic_changes": (_WHOLE, "how often the topic changed"),
    "changes_by_chatbot": (_WHOLE, "how often the chatbot changed the topic"),
    "changes_by_worker": (_WHOLE, "how often the worker changed the topic"),
    "topic_sent": (_TEXT, "whether the chatbot was sent the topic"),
    "words_by_input": (_TEXT, "how many words each input has"),
    "chars_by_input": (_TEXT, "how many characters each input has"),
    # Sources and metrics
    "reference_words": (_WHOLE, "how many words the reference of the source has"),
    "input_words": (_WHOLE, "how many words the input of the source has"),
    "metric": (_TEXT, "the metric"),
}


def column(name: str) -> Column:
    """Return what a column means; one of any other name is an attribute that researchers gave."""
    holds, meaning = _MEANINGS.get(name, (_TEXT, "an attribute of sources or raters, as the researchers gave it"))
    return Column(name, holds, meaning)


def is_described(name: str) -> bool:
    """Tell whether a column has a meaning here."""
    return name in _MEANINGS
