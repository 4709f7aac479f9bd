"""Responses, whoever asked and wherever they come from: files to tables, and tables to the arrays of methods."""
