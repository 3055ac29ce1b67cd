"""What the jobs of the workflow do, one module a kind of job."""
