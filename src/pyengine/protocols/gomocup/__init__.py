"""The protocol of Gomocup, spoken by managers of Gomoku tournaments."""
