"""The smallest plug-ins that are whole: docs/architecture.md shows them, and tests run a campaign with them."""
