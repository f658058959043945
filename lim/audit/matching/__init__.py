"""Where in a prompt the texts of documents stand, and which of the places are the documents' own."""
