"""What the pages Choose K and Frontier share: a form that says which runs they are about."""
