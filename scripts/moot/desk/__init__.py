"""The desk: local pages where people judge and label; the files below `data/` stay the
interface.
"""
