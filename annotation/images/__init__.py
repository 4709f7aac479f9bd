"""Texts as images, so that what a worker reads cannot be copied: pure, no Django, no database."""

from annotation.images.layout import MAX_HEIGHT_PX, Direction, TextTooTallError
from annotation.images.render import DARK, LIGHT, RENDERER, RenderedImage, Theme, measure, render

__all__ = [
    "DARK",
    "LIGHT",
    "MAX_HEIGHT_PX",
    "RENDERER",
    "Direction",
    "RenderedImage",
    "TextTooTallError",
    "Theme",
    "measure",
    "render",
]
