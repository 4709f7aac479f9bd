"""Ratings files of any kind to the arrays that the statistics take."""
