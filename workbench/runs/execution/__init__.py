"""How runs are started, queued, watched and stopped."""
