"""The log of a job."""

import logging

LOG = logging.getLogger("moot")
