"""Define and search your own game: Domineering. Run: python own_game.py [SIMULATIONS]

Player 0 places dominoes vertically, player 1 horizontally; whoever cannot move loses.
"""

import argparse

import pyengine

SIZE, COLUMNS = 5, "ABCDE"


class State:
    def __init__(self, covered=frozenset(), player=0):
        self.covered, self.player = covered, player

    def cells(self, action):
        """Return the two cells of a domino; `action` is the upper or left one."""
        return action, action + (SIZE if self.player == 0 else 1)

    def legal_actions(self):
        rows, columns = (SIZE - 1, SIZE) if self.player == 0 else (SIZE, SIZE - 1)
        inside = [row * SIZE + column for row in range(rows) for column in range(columns)]
        return [point for point in inside if self.covered.isdisjoint(self.cells(point))]

    def apply_action(self, action):
        self.covered |= set(self.cells(action))
        self.player = 1 - self.player

    def is_terminal(self):
        return not self.legal_actions()

    def current_player(self):
        return -4 if self.is_terminal() else self.player

    def returns(self):
        return [-1.0, 1.0] if self.player == 0 else [1.0, -1.0]

    def clone(self):
        return State(self.covered, self.player)

    def action_to_string(self, action):  # the upper or left cell: A1 to E5
        return f"{COLUMNS[action % SIZE]}{action // SIZE + 1}"

    def __str__(self):
        cells = "".join("#" if point in self.covered else "." for point in range(SIZE * SIZE))
        rows = [f"{row + 1}{cells[row * SIZE : (row + 1) * SIZE]}" for row in range(SIZE)]
        return "\n".join(map(" ".join, [f" {COLUMNS}", *rows]))


class Domineering:
    def num_distinct_actions(self):
        return SIZE * SIZE

    def new_initial_state(self):
        return State()


if __name__ == "__main__":  # also playable: `pyengine play own_game.py:Domineering`
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("simulations", type=int, nargs="?", default=3000)
    simulations = parser.parse_args().simulations
    print(pyengine.check_game(Domineering(), games=5))
    result = pyengine.Engine(Domineering(), "rollout").search(State(), simulations=simulations)
    print(f"best: {State().action_to_string(result.action)}, {result.value:+.2f}")
