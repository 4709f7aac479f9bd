"""Chats from files to summaries and figures, without a database."""
