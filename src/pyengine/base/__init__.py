"""Shared code without a domain: checks, files, locks, interrupts, the machine."""
