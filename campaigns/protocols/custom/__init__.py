"""Campaigns of one's own: any fields, any criteria, any mix; with presets for Direct Assessment."""
