"""The interface to Snakemake: digests, records, messages on the terminal."""
