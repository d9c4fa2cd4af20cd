"""Parts of the suite ``peers``: environments, workers, and one module per peer."""
