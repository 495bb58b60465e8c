"""A motor insurance broker for `finance.buy_motor_insurance`: business, desk and tools."""

import sys
from pathlib import Path

# MCP over HTTP, the body limit and the bearer check are those of the Python example partner.
# Appended, so that its `tests` and `server` do not hide the ones here.
sys.path.append(str(Path(__file__).resolve().parents[2] / "partner-python"))
