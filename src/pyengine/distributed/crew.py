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
from pyengine.distributed.workers import LostError, Member, Workers
from pyengine.errors import ConfigError, DataError
from pyengine.train.errors import TrainingError
from pyengine.train.json_files import append_line
from pyengine.train.loop.meter import Meter
from pyengine.train.loop.part import Part
from pyengine.train.loop.part_selfplay import first_best
from pyengine.train.loop.state import Best

_POLL = 0.2  # seconds
_WAIT = 1.0  # seconds that an actor waits for a packet
_RESIZE_SECONDS = 2.0  # between checks of how many actors fit
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
        self._resized = -_RESIZE_SECONDS
        self._best = best
        self._file = self._publish(best)  # reference to the network's file

    def turn(self) -> None:
        """Do one round of work in a fraction of a second."""
        self._switch_network()
        self._resize()
        self._start_actors()
        self._call_actors()
        self._receive_answers()
        self._report()

    def drain(self) -> None:
        """Stop the actors and receive their last deliveries."""
        deadline = time.monotonic() + _DRAIN_SECONDS
        for member in self.members:
            if member.reply is None:  # has not started
                self._end_actor(member)
        while any(member.actor is not None for member in self.members):
            if time.monotonic() > deadline:
                break
            self._call_actors(finish=True)
            self._receive_answers()
            self._report()

    def end(self) -> None:
        """Kill all actors."""
        for member in self.members:
            self._end_actor(member)
        self._report(now=True)

    def _end_actor(self, member: Member) -> None:
        if member.actor is not None:
            self._workers.end(member.actor)
            self._inbox.forget(member.sender)
            member.vacate()

    def _publish(self, best: Best) -> Any:
        """Return a reference to the network's file; None without a network."""
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

    def _switch_network(self) -> None:
        """Switch to a new best network."""
        best = self._part.folder.best()
        if best is None or best == self._best:
            return
        if best.name != self._best.name:  # otherwise only its Elo has changed
            self._file = self._publish(best)
            if best.sha256 is not None:
                self._inbox.set_model(best.sha256)
        self._best = best

    def _resize(self) -> None:
        """Set the number of seats to the setting, or to the number of actors that fit."""
        now = time.monotonic()
        if now - self._resized < _RESIZE_SECONDS:
            return
        self._resized = now
        actors = self._config.actors
        target = self._workers.room() if actors is None else actors
        while len(self.members) < target:
            self.members.append(Member(f"actor-{self._seats}", Meter(now)))
            self._seats += 1
        for member in reversed(self.members.copy()):  # a node may have left
            if len(self.members) > target and member.reply is None:
                self._end_actor(member)
                self.members.remove(member)

    def _start_actors(self) -> None:
        """Start actors in empty seats."""
        now = time.monotonic()
        for member in self.members:
            if member.actor is None and now >= member.not_before:
                self._started += 1
                actor = self._workers.start(self._contract())
                member.assign(actor, f"{member.name}.{self._started}", now)
                self._log(member, "starts")

    def _contract(self) -> Contract:
        """Return a contract with a seed that no other actor of any session has."""
        key = (self._part.run.run.seed, self._before, self._started)
        return Contract(
            version=_core.__version__,
            text=self._part.run.text,
            seed=int(np.random.SeedSequence(key).generate_state(1)[0]),
            played_on=self._inbox.played_on(),
        )

    def _call_actors(self, *, finish: bool = False) -> None:
        """Call all idle actors."""
        hold = not finish and self._is_ahead()
        for member in self.members:
            if member.actor is None or member.call is not None:
                continue
            order = Order(
                acknowledged=self._inbox.last_packet(member.sender),
                best=self._best,
                hold=hold,
                finish=finish,
                wait=_WAIT,
            )
            file = None if member.knows(self._best.name) else self._file
            call = self._workers.ask(member.actor, order, file)
            member.set_call(call, time.monotonic())

    def _is_ahead(self) -> bool:
        """Whether self-play is far enough ahead of the learner to pause.

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

    def _receive_answers(self) -> None:
        for member in self._answered():
            call, member.call = member.call, None
            try:
                self._accept(member, self._workers.answer(call))
            except (LostError, DamagedPacketError) as error:
                self._count_failure(member, error)
        self._replace_hanging()
        self._inbox.tick()

    def _answered(self) -> list[Member]:
        """Wait for an answer and return the members that have one."""
        pending = {member.call: member for member in self.members if member.call is not None}
        if not pending:
            self._part.wait(_POLL)
            return []
        return [pending[call] for call in self._workers.answered(list(pending), _POLL)]

    def _accept(self, member: Member, reply: Reply) -> None:
        """Receive the packets of an actor; the next call acknowledges them."""
        member.reply = replace(reply, packets=[])  # held by the inbox
        games, positions = self._inbox.take(member.sender, reply.packets)
        member.silences = 0  # not after a damaged packet
        if games:
            member.delivered(games, positions, time.monotonic())
        if reply.state == "ended" and not reply.packets:
            self._remove_ended(member, reply)

    def _count_failure(self, member: Member, error: Exception) -> None:
        """Count a failed call; replace an actor that has died or failed too often."""
        member.silences += 1
        if (isinstance(error, LostError) and error.gone) or member.silences >= _SILENCES:
            self._replace_actor(member, str(error))

    def _replace_hanging(self) -> None:
        """Replace actors that hang, such as stopped processes."""
        for member in self.members:
            if member.hangs(time.monotonic(), _ANSWER_SECONDS):
                self._replace_actor(member, f"no answer within {_ANSWER_SECONDS:g} s")

    def _remove_ended(self, member: Member, reply: Reply) -> None:
        """Remove an actor that has ended; a permanent error ends the run."""
        if reply.failed is None:
            self._end_actor(member)
            return
        self._replace_actor(member, f"{reply.node}: {reply.failed}")
        if reply.permanent:
            raise ConfigError(f"self-play failed: {reply.failed.strip()[-_MAX_CHARS:]}")

    def _replace_actor(self, member: Member, message: str) -> None:
        """Record a death and free the seat for another actor.

        Raises TrainingError if actors keep dying in every seat.
        """
        member.died(time.monotonic(), message.strip()[-_MAX_CHARS:])
        self._log(member, "died", words=member.error)
        self._end_actor(member)
        self._resized = -_RESIZE_SECONDS  # the node may have left
        restarts = self._part.run.run.restarts
        if all(member.failures > restarts for member in self.members):
            raise TrainingError(
                f"self-play: actors of all {len(self.members)} seats died {restarts + 1} times in "
                f"a row before they delivered a game; the last error: {member.error}"
            )

    def _log(self, member: Member, event: str, **more: Any) -> None:
        line = {"time": time.time(), "actor": member.sender, "event": event, **more}
        append_line(self._part.folder.log / "actors.jsonl", line)

    def _report(self, *, now: bool = False) -> None:
        """Publish the status of self-play."""
        actors = [member.progress(time.monotonic()) for member in self.members]
        self._part.publish(
            {
                "games": self._inbox.games,
                "positions": self._inbox.positions,
                "generation": self._best.generation,
                "actors": actors,
            },
            now=now,
        )
