"""How things look: colours, boards as text and as pictures."""
