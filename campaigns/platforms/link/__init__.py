"""Workers who follow a link."""
