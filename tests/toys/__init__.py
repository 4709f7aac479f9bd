"""The smallest plug-ins that are whole: docs/plugins.md shows them, and tests run a campaign with them."""
