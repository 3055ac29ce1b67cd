"""Tables that belong to no paper: every study may have them."""
