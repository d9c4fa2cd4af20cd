"""Self-play on a cluster: the driver's side of a crew of actors."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from typing import Any

import numpy as np

from pyengine import _core
from pyengine.base.files import unread
from pyengine.distributed.actor import Contract, Order, Reply
from pyengine.distributed.inbox import Inbox, open_inbox
from pyengine.distributed.packet import DamagedPacketError
from pyengine.distributed.workers import LostError, Member, Meter, Workers
from pyengine.errors import ConfigError, DataError
from pyengine.train.errors import TrainingError
from pyengine.train.json_files import append_line
from pyengine.train.loop.part import Part
from pyengine.train.loop.part_selfplay import first_best
from pyengine.train.loop.state import Best

_POLL = 0.2  # seconds
_WAIT = 1.0  # seconds that an actor waits for a packet
_LOOK_SECONDS = 2.0  # between checks of the cluster's room
_DRAIN_SECONDS = 30.0  # for the last deliveries
_ANSWER_SECONDS = 300.0  # for an answer, including the transfer of a network
_SILENCES = 5  # consecutive failed calls until an actor is replaced
_MAX_CHARS = 1500  # of an actor's error message


def work(part: Part, workers: Workers) -> None:
    """Run self-play with actors until the part finishes; then all actors have ended.

    Raises:
        ConfigError, DataError: an error that every actor would have, or a folder that cannot be
            written.
        TrainingError: in every seat, actors die before they deliver a game.

    """
    best = first_best(part)
    if best is None:
        return
    with open_inbox(part, best) as inbox:
        crew = Crew(part, workers, inbox, best)
        try:
            while not part.finishing:
                crew.turn()
            crew.drain()
        finally:
            crew.end()


class Crew:
    """Keeps the configured number of actors running and receives their games."""

    def __init__(self, part: Part, workers: Workers, inbox: Inbox, best: Best) -> None:
        self.members: list[Member] = []
        self._part, self._workers, self._inbox = part, workers, inbox
        self._config = part.run.distributed
        self._before = inbox.games  # before this session
        self._seats = self._started = 0  # numbers so far
        self._looked = -_LOOK_SECONDS
        self._best = best
        self._file = self._published(best)  # reference to the network's file

    def turn(self) -> None:
        """Do one round of work in a fraction of a second."""
        self._follow()
        self._look()
        self._fill()
        self._call()
        self._receive()
        self._say()

    def drain(self) -> None:
        """End the actors and receive their last deliveries."""
        deadline = time.monotonic() + _DRAIN_SECONDS
        for member in self.members:
            if member.reply is None:  # has not started
                self._leave(member)
        while any(member.actor is not None for member in self.members):
            if time.monotonic() > deadline:
                break
            self._call(finish=True)
            self._receive()
            self._say()

    def end(self) -> None:
        """Kill all actors."""
        for member in self.members:
            self._leave(member)
        self._say(now=True)

    def _leave(self, member: Member) -> None:
        if member.actor is not None:
            self._workers.end(member.actor)
            self._inbox.forget(member.sender)
            member.vacate()

    def _published(self, best: Best) -> Any:
        if not best.is_network:
            return None
        path = self._part.folder.models / best.name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise DataError(unread(path, error)) from error
        actual = hashlib.sha256(data).hexdigest()
        if actual != best.sha256:  # no actor would accept it
            raise DataError(f"{path} is damaged: expected SHA-256 {best.sha256}, got {actual}")
        return self._workers.publish(data)

    def _follow(self) -> None:
        """Switch to a new best network."""
        best = self._part.folder.best()
        if best is None or best == self._best:
            return
        if best.name != self._best.name:  # otherwise only its Elo has changed
            self._file = self._published(best)
            if best.sha256 is not None:
                self._inbox.set_model(best.sha256)
        self._best = best

    def _look(self) -> None:
        """Adjust the number of seats to the setting, or to the room on the nodes."""
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        actors = self._config.actors
        target = self._workers.room() if actors is None else actors
        while len(self.members) < target:
            self.members.append(Member(f"actor-{self._seats}", Meter(now)))
            self._seats += 1
        for member in reversed(self.members.copy()):  # a node may have left
            if len(self.members) > target and member.reply is None:
                self._leave(member)
                self.members.remove(member)

    def _fill(self) -> None:
        """Start actors in empty seats."""
        now = time.monotonic()
        for member in self.members:
            if member.actor is None and now >= member.not_before:
                self._started += 1
                actor = self._workers.start(self._contract())
                member.assign(actor, f"{member.name}.{self._started}", now)
                self._note(member, "starts")

    def _contract(self) -> Contract:
        """Return a contract with a seed that no other actor of any session has."""
        key = (self._part.run.run.seed, self._before, self._started)
        return Contract(
            version=_core.__version__,
            text=self._part.run.text,
            seed=int(np.random.SeedSequence(key).generate_state(1)[0]),
            played_on=self._inbox.played_on(),
        )

    def _call(self, *, finish: bool = False) -> None:
        """Call all idle actors."""
        hold = not finish and self._ahead()
        for member in self.members:
            if member.actor is None or member.call is not None:
                continue
            order = Order(
                acknowledged=self._inbox.taken(member.sender),
                best=self._best,
                hold=hold,
                finish=finish,
                wait=_WAIT,
            )
            file = None if member.knows(self._best.name) else self._file
            call = self._workers.ask(member.actor, order, file)
            member.set_call(call, time.monotonic())

    def _ahead(self) -> bool:
        """Return whether self-play is far enough ahead of the learner.

        Never if the learner waits for positions, whatever ``ahead`` says.
        """
        if self._config.ahead is None:
            return False
        run, folder = self._part.run, self._part.folder
        step, batch = int(folder.status("learner").get("step", 0)), run.train.learner.batch_size
        positions = folder.counted(run)
        if step >= run.window.allowed_steps(positions, batch):
            return False
        return positions - step * batch / run.window.samples_per_position > self._config.ahead

    def _receive(self) -> None:
        """Receive the available answers."""
        pending = {m.call: m for m in self.members if m.call is not None}
        if not pending:
            self._part.wait(_POLL)
        for call in self._workers.answered(list(pending), _POLL) if pending else ():
            member = pending[call]
            member.call = None
            try:
                reply = self._workers.answer(call)
                self._take(member, reply)
            except (LostError, DamagedPacketError) as error:
                self._failed(member, error)
        self._check_hanging()
        self._inbox.tick()

    def _take(self, member: Member, reply: Reply) -> None:
        """Receive the packets of an actor; the next call acknowledges them."""
        member.reply = replace(reply, packets=[])  # held by the inbox
        games, positions = self._inbox.take(member.sender, reply.packets)
        member.silences = 0  # not after a damaged packet
        if games:
            member.delivered(games, positions, time.monotonic())
        if reply.state == "ended" and not reply.packets:
            self._ended(member, reply)

    def _failed(self, member: Member, error: Exception) -> None:
        """Count a failed call; replace an actor that has died or failed too often."""
        member.silences += 1
        if (isinstance(error, LostError) and error.gone) or member.silences >= _SILENCES:
            self._died(member, str(error))

    def _check_hanging(self) -> None:
        """Replace actors that hang, such as stopped processes."""
        for member in self.members:
            if member.hangs(time.monotonic(), _ANSWER_SECONDS):
                self._died(member, f"no answer within {_ANSWER_SECONDS:g} s")

    def _ended(self, member: Member, reply: Reply) -> None:
        """Remove an actor that has ended; a permanent error ends the run."""
        if reply.failed is None:
            self._leave(member)
            return
        self._died(member, f"{reply.node}: {reply.failed}")
        if reply.permanent:
            raise ConfigError(f"self-play failed: {reply.failed.strip()[-_MAX_CHARS:]}")

    def _died(self, member: Member, words: str) -> None:
        """Record a death. Raises TrainingError if actors keep dying in every seat."""
        member.died(time.monotonic(), words.strip()[-_MAX_CHARS:])
        self._note(member, "died", words=member.words)
        self._leave(member)
        self._looked = -_LOOK_SECONDS  # the node may have left
        restarts = self._part.run.run.restarts
        if all(member.failures > restarts for member in self.members):
            raise TrainingError(
                f"self-play: actors of all {len(self.members)} seats died {restarts + 1} times in "
                f"a row before they delivered a game; the last error: {member.words}"
            )

    def _note(self, member: Member, event: str, **more: Any) -> None:
        line = {"time": time.time(), "actor": member.sender, "event": event, **more}
        append_line(self._part.folder.log / "actors.jsonl", line)

    def _say(self, *, now: bool = False) -> None:
        """Report the progress."""
        moment = time.monotonic()
        actors = [member.progress(moment) for member in self.members]
        self._part.say(
            {
                "games": self._inbox.games,
                "positions": self._inbox.positions,
                "generation": self._best.generation,
                "positions_per_second": sum(actor["positions_per_second"] for actor in actors),
                "actors": actors,
            },
            now=now,
        )
