"""What readers see, whatever the study: tables, figures, published values beside ours, transcripts."""
