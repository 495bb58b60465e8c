"""The parts of deploy/check.py."""
