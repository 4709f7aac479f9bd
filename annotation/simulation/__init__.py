"""A crowd whose truth is known, working through a campaign on its real pages."""
