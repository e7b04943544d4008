"""Starting, queueing, watching and stopping runs."""
