"""The administrators' pages."""
