"""Statistics on arrays and frames: intervals, tests, agreement, classification, calibration."""
