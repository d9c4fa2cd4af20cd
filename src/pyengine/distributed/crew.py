"""Self-play on a cluster: a crew of actors, whose games one place receives."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from typing import Any

import numpy as np

from pyengine import _core
from pyengine.base.files import unread
from pyengine.distributed.actor import Contract, Order, Reply
from pyengine.distributed.inbox import Inbox
from pyengine.distributed.member import Member
from pyengine.distributed.packet import DamagedPacketError
from pyengine.distributed.policy import Meter, Seat
from pyengine.distributed.workers import LostError, Workers
from pyengine.errors import ConfigError, DataError
from pyengine.train.errors import TrainingError
from pyengine.train.json_files import append_line
from pyengine.train.loop.part_selfplay import first_best
from pyengine.train.loop.parts import Part
from pyengine.train.loop.state import Best

_POLL = 0.2  # seconds
_WAIT = 1.0  # seconds that an actor waits for a packet before it answers
_LOOK_SECONDS = 2.0  # between two looks at the cluster's room
_DRAIN_SECONDS = 30.0  # for the last deliveries
_ANSWER_SECONDS = 300.0  # for an answer, a network's way to the actor included; then it hangs
_SILENCES = 5  # questions in a row without an answer, after which an actor is given up
_WORDS = 1500  # characters of an actor's last words


def work(part: Part, workers: Workers) -> None:
    """Do the work of self-play with actors until told to end; all of them have ended then.

    Raises:
        ConfigError, DataError: what would end every actor, or a folder that cannot be written.
        TrainingError: at every place actors die before they deliver anything; has last words.

    """
    best = first_best(part)
    if best is None:
        return
    with Inbox(part, best) as inbox:
        crew = Crew(part, workers, inbox, best)
        try:
            while not part.finishing:
                crew.turn()
            crew.drain()
        finally:
            crew.end()


class Crew:
    """Keeps as many actors at work as the run asks for, and takes what they deliver."""

    def __init__(self, part: Part, workers: Workers, inbox: Inbox, best: Best) -> None:
        """Begin without actors."""
        self.members: list[Member] = []
        self._part, self._workers, self._inbox = part, workers, inbox
        self._config = part.run.distributed
        self._before = inbox.games  # of earlier sittings
        self._places = self._born = 0  # how many there were
        self._looked = -_LOOK_SECONDS
        self._best = best
        self._file = self._published(best)  # what stands for the network's file

    def turn(self) -> None:
        """Do what there is to do; takes a fraction of a second."""
        self._follow()
        self._look()
        self._fill()
        self._ask()
        self._receive()
        self._say()

    def drain(self) -> None:
        """End the actors and take their last deliveries."""
        deadline = time.monotonic() + _DRAIN_SECONDS
        for member in self.members:
            if member.reply is None:  # it has not begun
                self._leave(member)
        while any(each.actor is not None for each in self.members):
            if time.monotonic() > deadline:
                break
            self._ask(finish=True)
            self._receive()
            self._say()

    def end(self) -> None:
        """End all actors, whatever they are at."""
        for member in self.members:
            self._leave(member)
        self._say(now=True)

    def _leave(self, member: Member) -> None:
        """End the actor of a place, whatever it is at."""
        if member.actor is not None:
            self._workers.end(member.actor)
            self._inbox.forget(member.sender)
            member.leaves()

    def _published(self, best: Best) -> Any:
        if not best.is_network:
            return None
        path = self._part.folder.models / best.name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise DataError(unread(path, error)) from error
        found = hashlib.sha256(data).hexdigest()
        if found != best.sha256:  # no actor would take it
            raise DataError(f"{path} is damaged: expected SHA-256 {best.sha256}, got {found}")
        return self._workers.publish(data)

    def _follow(self) -> None:
        """Let the best network play, which may be another one now."""
        best = self._part.folder.best()
        if best is None or best == self._best:
            return
        if best.name != self._best.name:  # else its Elo is known by now
            self._file = self._published(best)
            if best.sha256 is not None:
                self._inbox.set_model(best.sha256)
        self._best = best

    def _look(self) -> None:
        """Have a place for each actor that is wanted; a node that joined makes room for more."""
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        wanted = self._config.actors
        wanted = self._workers.room() if wanted is None else wanted
        while len(self.members) < wanted:
            self.members.append(Member(Seat(f"actor-{self._places}"), Meter(now)))
            self._places += 1
        for member in reversed(self.members.copy()):  # where a node is gone
            if len(self.members) > wanted and member.reply is None:
                self._leave(member)
                self.members.remove(member)

    def _fill(self) -> None:
        """Start actors where there is nobody."""
        now = time.monotonic()
        for member in self.members:
            if member.actor is None and now >= member.place.not_before:
                self._born += 1
                actor = self._workers.start(self._contract())
                member.comes(actor, f"{member.place.name}.{self._born}", now)
                self._note(member, "starts")

    def _contract(self) -> Contract:
        """Return what an actor is told; no other has its random numbers, in any sitting."""
        key = (self._part.run.run.seed, self._before, self._born)
        return Contract(
            version=_core.__version__,
            text=self._part.run.text,
            seed=int(np.random.SeedSequence(key).generate_state(1)[0]),
            threads=max(1, int(self._config.cpus or 1)),
            delivery_seconds=self._config.delivery_seconds,
            backlog_bytes=self._config.backlog_megabytes * 1e6,
            played_on=self._inbox.played_on(),
        )

    def _ask(self, *, finish: bool = False) -> None:
        """Ask everybody who has answered."""
        hold = not finish and self._ahead()
        for member in self.members:
            if member.actor is None or member.question is not None:
                continue
            order = Order(
                acknowledged=self._inbox.taken(member.sender),
                best=self._best,
                hold=hold,
                finish=finish,
                wait=_WAIT,
            )
            file = None if member.knows(self._best.name) else self._file
            question = self._workers.ask(member.actor, order, file)
            member.is_asked(question, time.monotonic())

    def _ahead(self) -> bool:
        """Whether the learner has enough to learn from for the time being.

        One that could not do a step has not, whatever ``ahead`` says: it waits for us.
        """
        if self._config.ahead is None:
            return False
        run, folder = self._part.run, self._part.folder
        step, batch = int(folder.status("learner").get("step", 0)), run.train.learner.batch_size
        counted = folder.counted(run)
        if step >= run.window.allowed_steps(counted, batch):
            return False
        return counted - step * batch / run.window.samples_per_position > self._config.ahead

    def _receive(self) -> None:
        """Take the answers that there are."""
        asked = {each.question: each for each in self.members if each.question is not None}
        if not asked:
            self._part.wait(_POLL)
        for question in self._workers.answered(list(asked), _POLL) if asked else ():
            member = asked[question]
            member.question = None
            try:
                reply = self._workers.answer(question)
                self._take(member, reply)
            except (LostError, DamagedPacketError) as error:
                self._silent(member, error)
        self._give_up()
        self._inbox.tick()

    def _take(self, member: Member, reply: Reply) -> None:
        """Take what an actor delivers. What it has then is not asked for again."""
        member.reply = replace(reply, packets=[])  # which are not kept twice
        games, positions = self._inbox.take(member.sender, reply.packets)
        member.silences = 0  # one whose packets are damaged has none
        if games:
            member.games += games
            member.meter.add(time.monotonic(), positions)
            member.place.delivered()
        if reply.state == "ended" and not reply.packets:
            self._ended(member, reply)

    def _silent(self, member: Member, error: Exception) -> None:
        """Ask again what got no answer; take note of an actor that is gone."""
        member.silences += 1
        if (isinstance(error, LostError) and error.gone) or member.silences >= _SILENCES:
            self._died(member, str(error))

    def _give_up(self) -> None:
        """End actors that hang: a process that is stopped, say, whose node lives."""
        for member in self.members:
            if member.hangs(time.monotonic(), _ANSWER_SECONDS):
                self._died(member, f"expected an answer within {_ANSWER_SECONDS:g} s, got none")

    def _ended(self, member: Member, reply: Reply) -> None:
        """Part with an actor that plays no more; an error that would come again ends the run."""
        if reply.failed is None:
            self._leave(member)
            return
        self._died(member, f"{reply.node}: {reply.failed}")
        if reply.permanent:
            raise ConfigError(f"self-play cannot go on: {reply.failed.strip()[-_WORDS:]}")

    def _died(self, member: Member, words: str) -> None:
        """Take note of a death; raises TrainingError when there is no hope."""
        member.place.died(time.monotonic(), words.strip()[-_WORDS:])
        self._note(member, "died", words=member.place.words)
        self._leave(member)
        self._looked = -_LOOK_SECONDS  # its node may be gone
        restarts = self._part.run.run.restarts
        if all(each.place.failing(restarts) for each in self.members):
            raise TrainingError(
                f"self-play: actors die at every place ({len(self.members)}), {restarts + 1} times "
                f"each before they delivered a game; the last one: {member.place.words}"
            )

    def _note(self, member: Member, event: str, **more: Any) -> None:
        line = {"time": time.time(), "actor": member.sender, "event": event, **more}
        append_line(self._part.folder.log / "actors.jsonl", line)

    def _say(self, *, now: bool = False) -> None:
        """Say how far self-play is."""
        moment = time.monotonic()
        actors = [member.told(moment) for member in self.members]
        self._part.say(
            {
                "games": self._inbox.games,
                "positions": self._inbox.positions,
                "generation": self._best.generation,
                "positions_per_second": sum(each["positions_per_second"] for each in actors),
                "actors": actors,
            },
            now=now,
        )
