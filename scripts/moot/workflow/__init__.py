"""What Snakemake is told: digests, records, messages on the terminal."""
