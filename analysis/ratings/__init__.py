"""Ratings files of any kind to the arrays that the statistics take."""

from analysis.ratings.columns import COLUMNS, REQUIRED, guess_mapping
from analysis.ratings.loading import LoadedRatings, load_ratings
from analysis.ratings.notices import RatingsWarning

__all__ = ["COLUMNS", "REQUIRED", "LoadedRatings", "RatingsWarning", "guess_mapping", "load_ratings"]
