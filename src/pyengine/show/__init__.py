"""How things look: plain values as pictures and as text."""
