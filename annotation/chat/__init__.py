"""Live chats, from what a worker says to what a researcher reads."""
