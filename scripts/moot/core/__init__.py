"""What every other room rests on."""
