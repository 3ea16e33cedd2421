"""How the bytes of a source are reached: local files inside allowed roots, public web pages."""
