"""OpenAI-compatible."""
