"""A car AC business with a REST API of its own, which knows nothing of the platform."""

import sys
from pathlib import Path

# The business itself (catalogue, quotes, desk) is the one of the Python example partner; only its surface differs.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "partner-python"))
