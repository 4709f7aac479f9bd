"""Reading: access first, a constant number of queries, no words for pages."""
