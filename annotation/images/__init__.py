"""Texts as images, so that what a worker reads cannot be copied: pure, no Django, no database."""

from annotation.images.layout import TextTooTallError
from annotation.images.render import DARK, LIGHT, N_SHADES, RenderedImage, Theme, measure, render

__all__ = ["DARK", "LIGHT", "N_SHADES", "RenderedImage", "TextTooTallError", "Theme", "measure", "render"]
