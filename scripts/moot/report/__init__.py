"""What readers see: tables, figures, published values, transcripts."""
