"""The pages on a server: which requests are answered, who may sign in, and how the server starts and stops."""
