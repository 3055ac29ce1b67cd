"""Panel worth: how many independent judges a panel is, before and after it talks."""
