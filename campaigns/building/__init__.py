"""From what a campaign holds, as arrays and texts, to its HITs and what they come to: no models, no queries."""
