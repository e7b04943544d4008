"""Runs on the workers of a Dask cluster. No other module imports `distributed`, and these only when it is used."""
