"""Simulators of crowd platforms: their interfaces, their web sites and workers of theirs."""
