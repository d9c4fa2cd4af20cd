"""Measurements of the bundled networks, one module per network."""
