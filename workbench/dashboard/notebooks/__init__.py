"""Live views and sliders for notebooks."""
