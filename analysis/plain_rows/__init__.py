"""Rows of what one worker said of one output, whatever it is: reading them."""
