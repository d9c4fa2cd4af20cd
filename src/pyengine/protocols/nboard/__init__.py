"""The protocol of NBoard, spoken by Othello programs."""
