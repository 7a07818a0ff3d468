"""From a source to a joint distribution."""
