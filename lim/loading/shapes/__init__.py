"""Shapes: what the records of known tools look like, one declarative entry each, and how lists of them are found."""
