"""A program that plays the first empty point over GTP, Gomocup's protocol or UGI, or fails.

Usage: fake_program.py gtp|gomocup|ugi LOG [FAULT]

It writes the lines that it reads to LOG. FAULT is what happens when a move is asked for.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
COMMANDS = (
    "boardsize clear_board genmove komi list_commands name play quit time_left time_settings "
    "undo version"
)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def fail(fault: str) -> str | None:
    """Fail, or return the answer in place of a move."""
    if fault == "crashes":
        sys.stderr.write("out of\nmemory\n")
        sys.exit(3)
    if fault == "hangs":
        time.sleep(60)
    if fault == "talks on":
        for _ in range(600):
            say("MESSAGE thinking" if sys.argv[1] == "gomocup" else "")
            time.sleep(0.1)
    if fault == "sleeps":
        time.sleep(0.3)
    answers = {"resigns": "resign", "plays illegally": "A1", "talks": "hello"}
    return answers.get(fault)


class Gtp:
    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.size = 19
        self.played: list[str] = []

    def empty(self) -> list[str]:
        points = [f"{LETTERS[x]}{y + 1}" for y in range(self.size) for x in range(self.size)]
        return [point for point in points if point not in self.played]

    def answer(self, line: str) -> str:
        word, *rest = line.split()
        if word == "boardsize":
            self.size = int(rest[0])
        elif word == "clear_board":
            self.played = []
        elif word == "play":
            if self.fault == "refuses":
                return "? illegal move"
            self.played.append(rest[1])
        elif word == "undo":
            self.played.pop()
        elif word == "genmove":
            if self.fault == "answers nonsense":
                return "nonsense"
            move = fail(self.fault) or next(iter(self.empty()), "pass")
            self.played.append(move)
            return f"= {move}"
        more = " gogui-rules_legal_moves" if self.fault == "lists vertices" else ""
        answers = {"list_commands": COMMANDS.replace(" ", "\n") + more.replace(" ", "\n"),
                   "name": "Fake", "version": "1.0",
                   "gogui-rules_legal_moves": " ".join(self.empty())}  # fmt: skip
        return f"= {answers.get(word, '')}"


def serve_gtp(read: Callable[[], str], fault: str) -> None:
    program = Gtp(fault)
    while line := read():
        say(program.answer(line) + "\n")
        if line == "quit" or (fault == "ends after a move" and "genmove" in line):
            return


def serve_gomocup(read: Callable[[], str], fault: str) -> None:
    size, taken = 0, set[tuple[int, int]]()

    def move() -> None:
        if fault == "answers nonsense":
            say("nonsense")
            return
        answer = {"A1": "0,0"}.get(fail(fault) or "")
        points = ((x, y) for y in range(size) for x in range(size))
        x, y = next(point for point in points if point not in taken)
        taken.add((x, y))
        say("MESSAGE thinking")
        say(answer or f"{x},{y}")

    while (line := read()) not in ("", "END"):
        word, _, rest = line.partition(" ")
        if word == "START":
            size = int(rest)
            say("ERROR no such size" if fault == "refuses" else "OK")
        elif word == "RESTART":
            taken.clear()
            say("OK")
        elif word == "ABOUT":
            say('name="Fake", version="1.0"')
        elif word == "BOARD":
            while (line := read()) != "DONE":
                x, y, _ = map(int, line.split(","))
                taken.add((x, y))
            move()
        elif word in ("BEGIN", "TURN"):
            if rest:
                x, y = map(int, rest.split(","))
                taken.add((x, y))
            move()
            if fault == "ends after a move":
                return


def serve_ugi(read: Callable[[], str], fault: str) -> None:
    size, taken = 5, list[str]()
    while (line := read()) not in ("", "quit"):
        word, *rest = line.split()
        if word == "ugi":
            say("id name Fake 1.0\nugiok")
        elif word == "isready":
            say("error" if fault == "refuses" else "readyok")
        elif word == "position":
            taken = rest[2:]
        elif word == "go":
            points = (f"{LETTERS[x]}{y + 1}" for y in range(size) for x in range(size))
            say("info depth 1")
            answer = "" if fault == "answers nonsense" else fail(fault)
            move = next(point for point in points if point not in taken)
            say(f"bestmove {move if answer is None else answer}")
            if fault == "ends after a move":
                return


def main() -> None:
    protocol, log, *faults = sys.argv[1:]

    def read() -> str:
        line = sys.stdin.readline().strip()
        with open(log, "a") as file:  # noqa: PTH123  # without site-packages, imports are slow
            file.write(f"{os.getpid()} {line}\n")
        return line

    serve = {"gtp": serve_gtp, "gomocup": serve_gomocup, "ugi": serve_ugi}[protocol]
    serve(read, faults[0] if faults else "")


if __name__ == "__main__":
    main()
