"""The pages on a server: which requests are answered, who may come in, and how it begins and ends."""
