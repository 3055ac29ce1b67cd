"""The desk: local pages on which people judge and label, over files below `data/`."""
