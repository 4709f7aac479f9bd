"""HIT building, on arrays of integer codes and plain texts: no database, no Django, no names."""
