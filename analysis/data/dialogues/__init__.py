"""The chats of a dialogue campaign: from files or a campaign to summaries, tables and figures."""
