"""Boards as pictures and text, from plain values."""
