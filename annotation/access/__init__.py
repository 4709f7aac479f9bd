"""Who may work: visitors of a link, places of HITs, tokens."""
