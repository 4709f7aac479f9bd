"""What a researcher sets for Mechanical Turk, and how it is read."""

from decimal import Decimal

from campaigns.contracts.option import Option, OptionReader

SANDBOX, PRODUCTION = "sandbox", "production"
YES, NO = "yes", "no"
_NO_OR_YES = ((NO, "no"), (YES, "yes"))

OPTIONS: tuple[Option, ...] = (
    Option(
        "access_key_id",
        "Access key ID",
        help="Of the IAM user that AWS has made for your Mechanical Turk account. Empty: the key of this installation.",
        kind="secret",
        is_operational=True,
    ),
    Option("secret_access_key", "Secret access key", help="Of the same IAM user.", kind="secret", is_operational=True),
    Option(
        "mode",
        "Marketplace",
        help="In the sandbox nothing is paid and only people whom you send there come: try everything there first. "
        "What was published in one is not in the other, so a campaign stays where it began.",
        choices=((SANDBOX, "sandbox: a rehearsal, nobody is paid"), (PRODUCTION, "production: real workers and money")),
        default=SANDBOX,
    ),
    Option(
        "title",
        "Title",
        help="What workers see in the list of HITs. Empty: a neutral sentence.",
        default="",
        kind="text",
    ),
    Option(
        "description",
        "Description",
        help="One or two sentences on what there is to do and how long it takes; workers read them before they accept. "
        "Empty: two neutral sentences.",
        default="",
        kind="long_text",
    ),
    Option(
        "keywords",
        "Keywords",
        help="Separated by commas; workers search by them.",
        default="rating, language, text, evaluation",
        kind="text",
    ),
    Option(
        "assignment_minutes",
        "Minutes for one HIT, at most",
        help="After so many a HIT that was accepted and not submitted is offered to somebody else, and its work is "
        "lost: allow three or four times what it takes.",
        default=120,
        is_required=True,
    ),
    Option(
        "lifetime_days",
        "Days on offer",
        help="So long a HIT waits for workers; it can be prolonged. At most 365.",
        default=7,
        is_required=True,
        is_operational=True,
    ),
    Option(
        "auto_approval_days",
        "Days until work is approved by itself",
        help="If you decide nothing, Amazon pays after so many days. At most 30; workers like few.",
        default=7,
        is_required=True,
        is_operational=True,
    ),
    Option(
        "countries",
        "Countries",
        help="Two-letter codes separated by commas, such as US, GB, AU. Empty: workers from everywhere.",
        default="",
        kind="text",
    ),
    Option(
        "min_approval_percent",
        "Approved work, at least (%)",
        help="Of all that a worker has submitted to anybody. Empty: any. In the sandbox leave it empty.",
        default=None,
    ),
    Option(
        "min_approved",
        "Approved HITs, at least",
        help="How many a worker must have behind them. Empty: any. In the sandbox leave it empty.",
        default=None,
    ),
    Option(
        "qualifications",
        "Further qualifications",
        help="One a line: the id of the qualification type, a comparator, and values, such as "
        "“2F1QJWKUDD8XADTFD2Q0G6UTO95ALH Exists” (Masters; in the sandbox 2ARFPLSP75KLA8M8DH1HTEQVJT3SY6), or, with "
        "an id of your own, “… >= 80” or “… In 1, 2”. Amazon asks more for premium ones, which the preview of the "
        "cost does not know.",
        default="",
        kind="long_text",
    ),
    Option(
        "exclude_earlier_runs",
        "Only workers who were in no earlier run",
        help="Workers of the runs that this one repeats get a qualification of yours, and whoever has it does not see "
        "these HITs.",
        choices=_NO_OR_YES,
        default=YES,
    ),
    Option(
        "replace_failed",
        "Replace workers who fail the worker test",
        help="Offers the HIT once more for each of them, at your cost; they are paid as well. "
        "Amazon lets a HIT that began with fewer than 10 places have 9 at most.",
        choices=_NO_OR_YES,
        default=NO,
        is_operational=True,
    ),
    Option(
        "budget_cap",
        "Spend at most (USD)",
        help="On the places of this campaign, rewards and fees, without bonuses: beyond it, or without it, nobody is "
        "replaced.",
        default=None,
        is_operational=True,
    ),
    Option(
        "sqs_queue_url",
        "Queue for notifications",
        help="The address of an Amazon SQS queue in us-east-1 that only this campaign uses and that Mechanical Turk "
        "may send to. With it, returned HITs are known at once. Empty: the site asks every few minutes.",
        default="",
        kind="text",
        is_operational=True,
    ),
)

MIN_FEE = Decimal("0.01")

_reader = OptionReader(OPTIONS)
value_of, text_of, number_of = _reader.value_of, _reader.text_of, _reader.number_of
