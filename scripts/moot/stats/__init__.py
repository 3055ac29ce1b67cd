"""Statistics on arrays and frames: intervals, paired tests, agreement, classification,
calibration.
"""
