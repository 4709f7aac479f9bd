"""From files to sources and outputs: what columns mean, tables in long and wide form, Appraise batches. No database."""
