"""Files of users: pandas reads a table as text, one module checks it, and one describes it."""
