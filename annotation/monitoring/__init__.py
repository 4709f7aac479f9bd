"""How far a campaign is."""
