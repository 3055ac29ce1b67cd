"""The work of the workflow's jobs, one module for each kind of job."""
