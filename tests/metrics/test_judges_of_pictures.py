"""Judges of pictures: what they are sent beside the prompt, what it costs, and which connectors can."""

import io

import pytest
from django.test import Client
from PIL import Image

from analysis.metrics.judges.costs import BYTES_PER_TOKEN
from analysis.web.queries.judges import Prompt, list_pending, prompter_of, texts_of
from campaigns.connectors import list_connectors
from campaigns.contracts.format import Place, ShownFile
from campaigns.formats.image import Image as ImageFormat
from campaigns.models import Campaign, Output
from campaigns.stored_files import read_file
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.pictures import attached
from tests.annotation.cast import launch
from tests.campaigns.formats.pictures import build, drawn, file_of, import_files, picture_campaign, zipped
from tests.metrics.judges import added, ask

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(owner_client: Client, owner: User, media: object) -> Campaign:
    """A launched campaign whose sources and outputs are pictures, one of them large."""
    campaign = picture_campaign(owner, field_format="image")
    rows = "".join(f"p{k},s{k}.png,alder,a{k}.png,What it is\n" for k in range(2))
    files = {f"{letter}{k}.png": file_of(drawn(10 * k + ord(letter))) for k in range(2) for letter in "as"}
    files["s1.png"] = file_of(drawn(3, (1500, 1000)), "JPEG")
    content = f"source_id,prompt,system,output,output_alt\n{rows}".encode()
    done = import_files(owner_client, campaign, ("a.csv", content), ("p.zip", zipped(files)))
    assert done.problems is None
    build(campaign, n_ordinary=2)
    return launch(campaign)


def test_a_judge_is_sent_the_pictures_in_the_order_of_the_page(owner, campaign, server) -> None:
    server.reply_to = lambda body: '{"1": 60}'
    ask(added(campaign, owner, server), owner)
    assert len(server.received) == 2
    for request in server.received:
        [message] = request.body["messages"]
        text = message["content"][0]["text"]
        assert text.index("Prompt:\n(attached file 1)") < text.index("Picture (rate this):\n(attached file 2)")
        assert "What it is" not in text, "it is there for who does not see the picture"
    sent = {tuple(request.pictures) for request in server.received}
    wanted = set()
    for output in Output.objects.filter(source__campaign=campaign).select_related("source"):
        values = (output.source.fields["prompt"], output.text)
        blocks = [ImageFormat.blocks(value, Place("output", "Picture"))[0].file for value in values]
        wanted.add(tuple(attached(read_file(campaign, block.digest)) for block in blocks if block))
    assert sent == wanted
    for picture in (picture for pair in sent for picture in pair):
        with Image.open(io.BytesIO(picture)) as image:
            assert image.format == "JPEG" and max(image.size) <= 1024
            assert not image.getexif() and "icc_profile" not in image.info


def test_pictures_count_as_tokens_in_what_is_estimated(owner, campaign, server) -> None:
    assert ImageFormat.n_tokens(ShownFile("", 1000, 750)) == 1000
    assert ImageFormat.n_tokens(ShownFile("", 2048, 1024)) == ImageFormat.n_tokens(ShownFile("", 1024, 512))
    judge = added(campaign, owner, server)
    prompter = prompter_of(judge)
    [(fields, text), *_] = texts_of([each.output_id for each in list_pending(judge)]).values()
    prompt = prompter.prompt(fields, text)
    n_tokens = sum(ImageFormat.n_tokens(each.file) for each in prompt.files if each.file)
    assert len(prompt.files) == 2 and n_tokens > 0
    assert prompter.n_bytes(prompt) == prompter.n_bytes(Prompt(prompt.text)) + BYTES_PER_TOKEN * n_tokens


def test_a_connector_that_sends_no_pictures_says_so_before_it_is_asked(owner, campaign, server) -> None:
    others = [each for each in list_connectors() if each.judge_settings is not None and not each.takes_attachments]
    for connector in others:
        with pytest.raises(DomainError) as refused:
            added(campaign, owner, server, connector=connector.slug, settings={}, secrets={})
        assert refused.value.code == "no_pictures"
    assert others and not campaign.judges.exists()


def test_a_lost_picture_stops_the_judge_with_a_sentence(owner, campaign, server) -> None:
    judge = added(campaign, owner, server)
    campaign.files.all().delete()
    with pytest.raises(DomainError, match="is gone"):
        ask(judge, owner)
    assert server.received == []
