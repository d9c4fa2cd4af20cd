"""What the suite ``peers`` is made of: environments, workers, and one module a peer."""
