"""Protocols of game programs, spoken on standard input and output."""
