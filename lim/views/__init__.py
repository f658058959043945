"""The pages, one a file: read widgets, call, show."""
