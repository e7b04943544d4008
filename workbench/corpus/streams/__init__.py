"""Documents that come one after the other and are not kept."""
