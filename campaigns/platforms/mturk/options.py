"""What a researcher sets for Mechanical Turk."""

from decimal import Decimal

from campaigns.contracts.options import Choice, LongText, Number, OptionsForm, Secret, Switch, Text

SANDBOX, PRODUCTION = "sandbox", "production"


class Options(OptionsForm):
    """What a HIT type has, who may work, and where it is published."""

    is_empty_default = True

    access_key_id = Secret(
        label="Access key ID",
        help_text="Of the IAM user of your Mechanical Turk account. Empty: the key of this installation.",
        is_operational=True,
    )
    secret_access_key = Secret(label="Secret access key", help_text="Of the same IAM user.", is_operational=True)
    mode = Choice(
        label="Marketplace",
        help_text="In the sandbox nothing is paid and only people whom you send there come: try everything there "
        "first. What was published in one is not in the other, so a campaign stays where it began.",
        choices=((SANDBOX, "sandbox: a rehearsal, nobody is paid"), (PRODUCTION, "production: real workers and money")),
        initial=SANDBOX,
    )
    title = Text(
        label="Title", help_text="What workers see in the list of HITs. Empty: a neutral sentence.", max_length=128
    )
    description = LongText(
        label="Description",
        help_text="One or two sentences on what there is to do and how long it takes; workers read them before they "
        "accept. Empty: two neutral sentences.",
        max_length=2000,
    )
    keywords = Text(
        label="Keywords",
        help_text="Separated by commas; workers search by them.",
        initial="rating, language, text, evaluation",
        max_length=1000,
    )
    assignment_minutes = Number(
        label="Minutes for one HIT, at most",
        help_text="After so many a HIT that was accepted and not submitted is offered to somebody else, and its work "
        "is lost: allow three or four times what it takes.",
        initial=120,
        required=True,
        min_value=1,
        max_value=525_600,
    )
    lifetime_days = Number(
        label="Days on offer",
        help_text="How long a HIT is offered to workers; it can be extended. At most 365.",
        initial=7,
        required=True,
        is_operational=True,
        min_value=1,
        max_value=365,
    )
    auto_approval_days = Number(
        label="Days until work is approved automatically",
        help_text="If you have not decided by then, Amazon pays. At most 30; workers prefer few days.",
        initial=7,
        required=True,
        is_operational=True,
        min_value=0,
        max_value=30,
    )
    countries = Text(
        label="Countries",
        help_text="Two-letter codes separated by commas, such as US, GB, AU. Empty: workers from everywhere.",
    )
    min_approval_percent = Number(
        label="Approved work, at least (%)",
        help_text="Of all that a worker has submitted to anybody. Empty: any. In the sandbox leave it empty.",
        min_value=0,
        max_value=100,
    )
    min_approved = Number(
        label="Approved HITs, at least",
        help_text="How many a worker must have. Empty: any. In the sandbox leave it empty.",
        min_value=0,
        max_value=10_000_000,
    )
    qualifications = LongText(
        label="Further qualifications",
        help_text="One a line: the id of the qualification type, a comparator, and values, such as "
        "“2F1QJWKUDD8XADTFD2Q0G6UTO95ALH Exists” (Masters; in the sandbox 2ARFPLSP75KLA8M8DH1HTEQVJT3SY6), or, with "
        "an id of your own, “… >= 80” or “… In 1, 2”. Amazon asks more for premium ones, which the preview of the "
        "cost does not know.",
    )
    exclude_earlier_runs = Switch(
        label="Only workers who were in no earlier run",
        help_text="Workers of the runs that this one repeats get a qualification of yours, and workers who have it "
        "does not see these HITs.",
        initial="yes",
    )
    replace_failed = Switch(
        label="Replace workers who fail the worker test",
        help_text="Offers the HIT again for each of them, at your cost; they are paid as well. "
        "Amazon lets a HIT that began with fewer than 10 places have 9 at most.",
        is_operational=True,
    )
    budget_cap = Number(
        label="Spend at most (USD)",
        help_text="On the places of this campaign, rewards and fees, without bonuses: beyond it, or without it, "
        "nobody is replaced.",
        is_operational=True,
        min_value=0,
        max_value=100_000_000,
    )
    sqs_queue_url = Text(
        label="Queue for notifications",
        help_text="The address of an Amazon SQS queue in us-east-1 that only this campaign uses and that Mechanical "
        "Turk may send to. With it, returned HITs are known at once. Empty: the site asks every few minutes.",
        is_operational=True,
    )


MIN_FEE = Decimal("0.01")
CODE = "code"
"""The field of `externalSubmit` with the completion code."""

value_of = Options.value_of
