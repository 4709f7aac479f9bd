"""HITs: what they come to, building them, what each holds."""

from dataclasses import replace
from typing import Any

from django import forms
from django.http import Http404, HttpResponse
from django.urls import reverse
from rest_framework import serializers

from annotation.pages.previews import PreviewText, get_preview_item, list_preview_pages, stem_of
from annotation.pages.shown_files import find_file, send_file
from annotation.pages.text_images import LETTERS, SCALES, THEMES, WIDTHS, Variant, draw, find_image
from annotation.queries import criteria_of
from api.access import ApiRequest
from api.operations import Listed, Resource, operation
from api.resources.jobs import JobShape
from api.shapes import cleaned, model_shape
from campaigns.building.estimate import BuildEstimate
from campaigns.design.composition import Kind
from campaigns.hit_queries import get_estimate, list_items
from campaigns.models import Campaign, Criterion, Hit, HitItem
from campaigns.services.hits import build_hits, use_own_hits
from evalsite.accounts.models import Scope
from evalsite.jobs.models import Job
from evalsite.lib.errors import CONFLICT


class EstimateShape(serializers.Serializer[BuildEstimate]):
    """What the HITs come to with all their workers."""

    n_hits = serializers.IntegerField()
    n_items = serializers.IntegerField()
    n_assignments = serializers.IntegerField()
    n_outputs_used = serializers.IntegerField()
    n_outputs_left_out = serializers.IntegerField()
    n_reuses = serializers.IntegerField(help_text="Ordinary items whose output is in another HIT, too.")
    n_sources_left_out = serializers.IntegerField()
    cost = serializers.DecimalField(max_digits=None, decimal_places=None, help_text="Without the platform's fees.")
    ratings = serializers.SerializerMethodField()

    def get_ratings(self, estimate: BuildEstimate) -> list[dict[str, str | int]]:
        """Return the ratings of each system."""
        return [{"system": name, "n_ratings": n} for name, n in estimate.ratings]


class Estimate(Resource):
    """What the HITs come to."""

    @operation(Scope.READ, returns=EstimateShape, refused=CONFLICT)
    def get(self, request: ApiRequest, campaign: Campaign) -> BuildEstimate:
        """Return how many HITs, ratings and rewards the design makes; refused if it makes none."""
        return get_estimate(campaign)


class HitShape(serializers.ModelSerializer[Hit]):
    """A HIT."""

    class Meta:
        model = Hit
        fields = ("number", "n_places_left", "is_offered")


class Hits(Resource):
    """The HITs."""

    @operation(Scope.READ, returns=HitShape, many="pages")
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the HITs by number."""
        return Listed(campaign.hits.all(), ("number",))

    @operation(Scope.EDIT, returns=JobShape, status=202, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign) -> Job:
        """Build the HITs anew."""
        return build_hits(campaign=campaign, user=request.user)


class OwnHits(Resource):
    """HITs of the design instead of those that came with a file."""

    @operation(Scope.EDIT, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign) -> None:
        """Give up the HITs that came with a file."""
        use_own_hits(campaign=campaign)


class ItemShape(serializers.ModelSerializer[HitItem]):
    """An item as workers see it, and what it is."""

    kind = serializers.SerializerMethodField()
    system = serializers.CharField(source="output.system.name", allow_null=True, help_text="None of a tutorial item.")
    source = serializers.CharField(source="output.source.name", allow_null=True)  # type: ignore[assignment]

    class Meta:
        model = HitItem
        fields = ("position", "kind", "system", "source", "twin_position", "text")

    def get_kind(self, item: HitItem) -> str:
        """Return the name of the kind."""
        return Kind(item.kind).name.lower()


class OneHit(Resource):
    """One HIT."""

    @operation(Scope.READ, returns=ItemShape, many="all")
    def get(self, request: ApiRequest, campaign: Campaign, number: int) -> list[HitItem]:
        """List the items of a HIT by position."""
        return list_items(campaign, number)


class PreviewTextShape(serializers.Serializer[PreviewText]):
    """A text as workers read it."""

    label = serializers.CharField()  # type: ignore[assignment]
    text = serializers.CharField()
    highlights = serializers.JSONField(help_text="First and last place of each stretch, in characters.")
    is_output = serializers.BooleanField(help_text="It is what is rated.")
    speaker = serializers.CharField(allow_null=True, help_text="Who says it, if it is a turn of a dialogue.")
    dialogue = serializers.CharField(help_text="Heading of the dialogue.")
    images = serializers.ListField(child=serializers.URLField(), help_text="None where workers read it as text.")


class PreviewItemShape(serializers.Serializer[Any]):
    """An item as workers see it: neither its kind nor its system."""

    position = serializers.IntegerField()
    texts = PreviewTextShape(many=True)


class HitPreviewShape(serializers.Serializer[Any]):
    """A HIT as workers see it. A chat has no texts."""

    criteria = model_shape(
        "PreviewCriterion", Criterion, "statement", "response", "settings", "is_required", "may_abstain"
    )(many=True)
    items = PreviewItemShape(many=True)


class HitPreview(Resource):
    """What workers see of a HIT."""

    @operation(Scope.READ, returns=HitPreviewShape)
    def get(self, request: ApiRequest, campaign: Campaign, number: int) -> dict[str, Any]:
        """Return the items of a HIT as workers see them; of number 0 some outputs, while no HITs are built."""

        def address(position: int, stem: str) -> str:
            at = reverse("api:preview_image", args=[campaign.public_id, number, position, stem])
            return str(request.build_absolute_uri(at))

        pages = [
            {
                "position": page.position,
                "texts": [
                    replace(text, images=tuple(address(page.position, stem) for stem in text.images))
                    for text in page.texts
                ],
            }
            for page in list_preview_pages(campaign, number)
        ]
        return {"criteria": criteria_of(campaign), "items": pages}


class ImageForm(forms.Form):
    """For which screens an image is."""

    width = forms.TypedChoiceField(
        required=False,
        coerce=int,
        choices=[(width, width) for width, _ in WIDTHS],
        help_text="Of a text, in CSS pixels; the widest if left out.",
    )
    theme = forms.ChoiceField(required=False, choices=[(name, name) for name in THEMES], help_text="Light if left out.")
    scale = forms.TypedChoiceField(
        required=False,
        coerce=int,
        choices=[(scale, scale) for scale in SCALES],
        help_text="Pixels for each CSS pixel; 1 if left out.",
    )


class PreviewImage(Resource):
    """An image of a text, or a picture."""

    @operation(Scope.READ, filters=ImageForm, media_type=("image/webp", "image/png"))
    def get(self, request: ApiRequest, campaign: Campaign, number: int, position: int, name: str) -> HttpResponse:
        """Send the image as WebP or, with one pixel for each CSS pixel, as PNG, as a worker's page has it."""
        wanted = cleaned(ImageForm(request.query_params))
        variant = Variant(wanted["width"] or WIDTHS[0][0], wanted["theme"] or "light", wanted["scale"] or 1)
        item = get_preview_item(campaign, number, position)
        if found := find_image([item], campaign, stem_of, name + LETTERS[variant]):
            content, content_type = draw(*found)
            return HttpResponse(content, content_type=content_type)
        if file := find_file([item], campaign, stem_of, f"{name}a"):
            block, _ = file
            content, content_type = send_file(campaign, block, variant.width * variant.scale, secret="preview")
            return HttpResponse(content, content_type=content_type)
        raise Http404
