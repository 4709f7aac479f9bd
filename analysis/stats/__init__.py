"""The statistics, on arrays of integer codes: no database, no Django, no names."""
