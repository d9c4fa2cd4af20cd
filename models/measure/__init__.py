"""What the bundled networks are measured by: a module for each, and what they share."""
