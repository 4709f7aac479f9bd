"""What Mechanical Turk says when it refuses, in its own words and with its own codes, as far as they are known."""

import time
from typing import Any


class RefusalError(Exception):
    """A call is refused: HTTP status, type, and the members of the answer."""

    def __init__(self, status: int, code: str, **members: Any) -> None:
        super().__init__(f"{code}: {members}")
        self.status = status
        self.code = code
        self.members = members


def request_error(turk_code: str, words: str, code: str = "RequestError") -> RefusalError:
    """Return what Mechanical Turk answers to a request that cannot be carried out."""
    stamped = f"{words} ({round(time.time() * 1000)} s)"
    return RefusalError(400, code, Message=stamped, TurkErrorCode=f"AWS.{turk_code}")


def service_fault() -> RefusalError:
    """Return what Mechanical Turk answers when it is out of order."""
    words = "Amazon Mechanical Turk is temporarily unable to process your request. Try your call again."
    return RefusalError(500, "ServiceFault", Message=words, TurkErrorCode="AWS.ServiceUnavailable")


def does_not_exist(kind: str, id: str) -> RefusalError:
    """Return the refusal of a call for a thing (HIT, Assignment, …) that is not there."""
    name = {"HIT": "Hit"}.get(kind, kind)
    return request_error(f"MechanicalTurk.{kind}DoesNotExist", f"{name} {id} does not exist.")


def wrong_hit_state(state: str, *allowed: str) -> RefusalError:
    """Return the refusal of a call that a HIT's state does not allow."""
    words = f"This HIT is currently in the state '{state}'.  This operation can be called with a status of: "
    return request_error("MechanicalTurk.InvalidHITState", words + ", ".join(allowed))


def wrong_state(kind: str, *allowed: str) -> RefusalError:
    """Return the refusal of a call that the state of an Assignment or Qualification does not allow."""
    words = f"This operation can be called with a status of: {','.join(allowed) or 'null'}"
    return request_error(f"MechanicalTurk.Invalid{kind}State", words)


def hit_already_exists(hit_id: str) -> RefusalError:
    """Return the refusal of a second HIT for the same token."""
    return request_error("MechanicalTurk.HITAlreadyExists", f'The HIT with ID "{hit_id}" already exists.')


def already_processed(token: str) -> RefusalError:
    """Return the refusal of a token that has had its effect."""
    words = f'The idempotency token "{token}" has already been processed.'
    return request_error("MechanicalTurk.DuplicateRequest", words)


def insufficient_funds() -> RefusalError:
    """Return the refusal of what the account cannot pay."""
    words = (
        "This Requester has insufficient funds in their account to complete this transaction. "
        "Please visit https://requester.mturk.com/prepayments/new to purchase Prepaid HITs."
    )
    return request_error("MechanicalTurk.InsufficientFunds", words)


def bad_value(parameter: str, value: Any) -> RefusalError:
    """Return the refusal of a parameter that its shape allows and its meaning does not."""
    words = f'The value "{value}" is not valid for the parameter {parameter}.'
    return request_error("MechanicalTurk.InvalidParameterValue", words, "ParameterValidationError")


def out_of_range(operation: str, parameter: str, value: Any, least: int, most: int) -> RefusalError:
    """Return the refusal of a number or length that is too small or too large."""
    words = (
        f"{operation}: Invalid Parameter '{parameter}' with value {value}. Valid values range from {least} to {most}"
    )
    return request_error("ParameterOutOfRange", words, "ParameterValidationError")


def missing(*parameters: str) -> RefusalError:
    """Return the refusal of a request without a parameter that Mechanical Turk needs here."""
    words = f"Your request is missing required parameters. Required parameters include {' or '.join(parameters)}."
    return request_error("MechanicalTurk.MissingArgument", words, "ParameterValidationError")


def bad_question(why: str) -> RefusalError:
    """Return the refusal of a question's XML."""
    words = (
        "There was an error parsing the XML question or answer data in your request. Please make sure the data is "
        f"well-formed and validates against the appropriate schema. Details: {why}"
    )
    return request_error("MechanicalTurk.XMLParseError", words, "ParameterValidationError")
