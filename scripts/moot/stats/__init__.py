"""Statistics on arrays and frames: intervals by cluster, paired tests, agreement, classification,
calibration.
"""
