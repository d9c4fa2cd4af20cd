"""A crew of actors: replacement, retries and answers."""

from __future__ import annotations

import dataclasses
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent import futures
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from conftest import ROOT
from pyengine.base.files import sha256_of
from pyengine.distributed import crew
from pyengine.distributed.actor import Actor, Contract, Order, Reply, Scratch
from pyengine.distributed.workers import LostError, Member, room
from pyengine.train.json_files import read_lines
from pyengine.train.loop.meter import Meter
from pyengine.train.loop.part import PERMANENT, Part, outcome, run_part
from pyengine.train.loop.state import Best
from run_games import UNIFORM, data_of, numbers_in, part_in, run_of


def test_restarts_are_delayed_more_with_each_failure() -> None:
    member = Member("a", Meter(0.0))
    delays = []
    for _ in range(10):
        member.died(100.0, "an error")
        delays.append(member.not_before - 100)
    assert delays == [0, 1, 2, 4, 8, 16, 32, 60, 60, 60]
    member.delivered(games=1, positions=9, now=100.0)
    member.died(100.0, "an error")
    assert member.not_before == 100
    assert member.deaths == 11


@pytest.mark.parametrize(
    ("nodes", "need", "expected"),
    [
        ({"driver": {"CPU": 4}}, {"CPU": 1, "GPU": 0}, 2),
        ({"driver": {"CPU": 4}, "b": {"CPU": 7}}, {"CPU": 2, "GPU": 0}, 1 + 3),
        ({"driver": {"CPU": 1}, "b": {}}, {"CPU": 1}, 0),
        ({"driver": {"CPU": 64, "GPU": 2}, "b": {"CPU": 64, "GPU": 8}}, {"CPU": 4, "GPU": 1}, 9),
        ({"b": {"CPU": 64, "GPU": 1}}, {"CPU": 1, "GPU": 0.1}, 10),
        ({"b": {"CPU": 64, "player": 3}}, {"CPU": 1, "player": 1}, 3),
        ({"b": {"CPU": 64}}, {"CPU": 0, "GPU": 0}, 0),
    ],
)
def test_there_is_room_beside_learner_and_gate(
    nodes: dict[str, dict[str, float]], need: dict[str, float], expected: int
) -> None:
    assert room(nodes, need, {"driver": {"CPU": 2, "GPU": 1}}) == expected


class Threads:
    """A cluster in this process: each call of an Actor runs in a thread."""

    def __init__(self, *, places: int = 2) -> None:
        self.places = places
        self.actors: list[Actor] = []
        self.contracts: list[Contract] = []
        self.ended: list[Any] = []
        self.network_files = 0
        self._pool = futures.ThreadPoolExecutor(8)
        self._callees: dict[Any, Actor] = {}  # by call

    def room(self) -> int:
        return self.places

    def start(self, contract: Contract) -> Any:
        self.contracts.append(contract)
        self.actors.append(Actor(contract))
        return self.actors[-1]

    def publish(self, data: bytes) -> Any:
        return data

    def ask(self, actor: Any, order: Order, network: Any) -> Any:
        self.network_files += network is not None
        call = self._pool.submit(actor.exchange, order, network)
        self._callees[call] = actor
        return call

    def answered(self, calls: Sequence[Any], seconds: float) -> list[Any]:
        return list(futures.wait(calls, seconds, futures.FIRST_COMPLETED).done)

    def answer(self, call: Any) -> Reply:
        actor = self._callees.pop(call)
        if actor in self.ended:
            raise LostError("the actor was killed", gone=True)
        return self.changed(actor, call.result())

    def changed(self, actor: Actor, reply: Reply) -> Reply:
        """Return what arrives instead of a reply, or raise LostError."""
        return reply

    def end(self, actor: Any) -> None:
        self.ended.append(actor)
        actor.exchange(Order(finish=True))  # stops its thread


@pytest.fixture
def part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Part:
    """Return the self-play part of a run; actors that die restart soon."""
    monkeypatch.setattr("pyengine.distributed.workers._BACKOFF", (0.0, 0.01))
    monkeypatch.setattr(crew, "_WAIT", 0.1)
    return part_in(tmp_path)


def configure(part: Part, **changes: Any) -> None:
    """Change the driver's cluster settings."""
    part.run = part.run.replace(distributed=part.run.distributed.replace(**changes))


def work(part: Part, workers: Any, until: Callable[[], bool]) -> tuple[int, str]:
    """Run the crew until a condition holds, then let it finish; return its outcome."""

    def watch() -> None:
        while not until() and not over.wait(0.02):
            pass
        part.finish()

    over = threading.Event()
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        return outcome(lambda: run_part(part, partial(crew.work, workers=workers)))
    finally:
        over.set()
        thread.join()


def delivered(part: Part) -> int:
    """Return the number of games that the crew reports."""
    return int(part.folder.status("selfplay").get("games", 0))


def actors_of(part: Part) -> list[dict[str, Any]]:
    """Return the progress of the actors that the crew reports."""
    return list(part.folder.status("selfplay").get("actors", []))


def deaths_in(part: Part) -> list[str]:
    """Return the errors of the actors that died."""
    events = read_lines(part.folder.log / "actors.jsonl")
    return [event["words"] for event in events if event["event"] == "died"]


def assert_all_games_are_kept(part: Part) -> None:
    assert data_of(part).games == delivered(part)
    assert numbers_in(part.folder) == list(range(delivered(part)))


def test_all_games_that_actors_report_are_in_the_folder_with_their_surprise(part: Part) -> None:
    part.run = run_of(selfplay={"first": "uniform", "record_surprise": True})
    workers = Threads()

    def all_have_played() -> bool:
        return delivered(part) >= 50 and all(actor["games"] for actor in actors_of(part))

    assert work(part, workers, all_have_played) == (0, "")
    assert len(workers.actors) == 2
    assert sum(actor["games"] for actor in actors_of(part)) == delivered(part) >= 50
    assert_all_games_are_kept(part)
    rows = data_of(part).sample(99, np.random.default_rng(0))
    assert rows["surprise"].max() > 0


def test_every_actor_of_every_session_has_another_seed(part: Part) -> None:
    first, second = Threads(), Threads()
    work(part, first, lambda: delivered(part) >= 1)
    before = delivered(part)
    again = Part("selfplay", part.folder, part.run)
    work(again, second, lambda: delivered(again) > before)
    seeds = [contract.seed for contract in (*first.contracts, *second.contracts)]
    assert len(set(seeds)) == len(seeds) == 4


def test_a_killed_actor_is_replaced_and_its_games_are_kept(part: Part) -> None:
    workers = Threads()
    seen: list[int] = []

    def killed_and_replaced() -> bool:
        if not seen and delivered(part) >= 20:
            seen.append(delivered(part))
            workers.end(workers.actors[0])
        return bool(seen) and len(workers.actors) == 3 and delivered(part) >= seen[0] + 50

    assert work(part, workers, killed_and_replaced) == (0, "")
    assert_all_games_are_kept(part)
    events = read_lines(part.folder.log / "actors.jsonl")
    assert [event["event"] for event in events] == ["starts", "starts", "died", "starts"]
    assert deaths_in(part) == ["the actor was killed"]


def test_actors_that_die_in_every_seat_end_the_run_with_their_error(part: Part) -> None:
    class AllDie(Threads):
        def changed(self, actor: Actor, reply: Reply) -> Reply:
            raise LostError("no pyengine here", gone=True)

    part.run = part.run.limited(restarts=1)
    status, message = work(part, AllDie(), lambda: False)
    assert status == 1
    assert "actors of all 2 seats died 2 times in a row" in message
    assert "no pyengine here" in message


def test_a_bad_node_does_not_end_the_run(part: Part) -> None:
    class OneBadNode(Threads):
        def changed(self, actor: Actor, reply: Reply) -> Reply:
            if actor is not self.actors[1]:
                raise LostError("a bad node", gone=True)
            return reply

    part.run = part.run.limited(restarts=1)
    workers = OneBadNode()
    ended = work(part, workers, lambda: len(workers.actors) > 4 and delivered(part) >= 20)
    assert ended == (0, "")
    assert_all_games_are_kept(part)


def damaged(reply: Reply, count: int | None = None) -> Reply:
    """Return a reply whose first packets are damaged."""
    packets = [dataclasses.replace(packet, lines=b"") for packet in reply.packets[:count]]
    return dataclasses.replace(reply, packets=[*packets, *reply.packets[len(packets) :]])


def test_lost_and_damaged_answers_are_requested_again(part: Part) -> None:
    counts: Counter[Actor] = Counter()

    class Lossy(Threads):
        def changed(self, actor: Actor, reply: Reply) -> Reply:
            counts[actor] += 1
            if counts[actor] % 3 == 1:
                raise LostError("an object was lost", gone=False)
            return damaged(reply, 1) if counts[actor] % 3 == 2 else reply

    workers = Lossy()
    assert work(part, workers, lambda: delivered(part) >= 20) == (0, "")
    assert len(workers.actors) == 2
    assert_all_games_are_kept(part)


def test_an_actor_whose_packets_are_always_damaged_is_replaced(part: Part) -> None:
    class OneDamaged(Threads):
        def changed(self, actor: Actor, reply: Reply) -> Reply:
            return damaged(reply) if actor is self.actors[0] else reply

    workers = OneDamaged()
    assert work(part, workers, lambda: len(workers.actors) == 3) == (0, "")
    assert [error[:37] for error in deaths_in(part)] == ["packet 1 is damaged: expected SHA-256"]


def test_a_hanging_actor_is_replaced_and_its_games_are_kept(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OneHangs(Threads):
        """The first actor stops answering after its first delivery."""

        played = False

        def answered(self, calls: Sequence[Any], seconds: float) -> list[Any]:
            done = super().answered(calls, seconds)
            if not self.played:
                return done
            return [call for call in done if self._callees[call] is not self.actors[0]]

        def changed(self, actor: Actor, reply: Reply) -> Reply:
            self.played = self.played or (actor is self.actors[0] and bool(reply.packets))
            return reply

    monkeypatch.setattr(crew, "_ANSWER_SECONDS", 3.0)
    workers, deadline = OneHangs(), time.monotonic() + 120

    def replaced() -> bool:
        played = len(workers.actors) >= 3 and delivered(part) >= 20
        return played or time.monotonic() > deadline

    assert work(part, workers, replaced) == (0, "")
    assert workers.actors[0] in workers.ended
    assert_all_games_are_kept(part)
    assert deaths_in(part)[0] == "no answer within 3 s"


def test_an_error_that_would_end_every_actor_ends_the_run(part: Part) -> None:
    class Permanent(Threads):
        def changed(self, actor: Actor, reply: Reply) -> Reply:
            failure = {"state": "ended", "failed": "ConfigError: no", "permanent": True}
            return dataclasses.replace(reply, packets=[], **failure)

    status, message = work(part, Permanent(), lambda: False)
    assert status == PERMANENT
    assert "self-play failed: ConfigError: no" in message


def test_a_damaged_network_ends_the_run(part: Part) -> None:
    path = part.folder.candidate(20)
    path.write_bytes(b"half a netw")
    part.folder.set_best(dataclasses.replace(UNIFORM, name=path.name, sha256="0" * 64))
    status, message = work(part, Threads(), lambda: False)
    assert status == PERMANENT
    assert f"{path} is damaged: expected SHA-256 000" in message


def test_a_new_node_gets_actors(part: Part) -> None:
    configure(part, actors="auto")
    workers = Threads(places=1)

    def joined() -> bool:
        if delivered(part) >= 10:
            workers.places = 3
        actors = actors_of(part)
        return len(actors) == 3 and all(actor["games"] > 0 for actor in actors)

    assert work(part, workers, joined) == (0, "")
    assert len(workers.actors) == 3


def test_self_play_waits_for_a_slow_learner(part: Part) -> None:
    configure(part, ahead=300, shard_positions=500)

    def all_are_held() -> bool:
        return {actor["state"] for actor in actors_of(part)} == {"held"}

    assert work(part, Threads(), all_are_held) == (0, "")
    assert data_of(part).games > 0


@pytest.mark.parametrize(
    "window",
    [{"minimum_positions": 40_000}, {"samples_per_position": 0.001}],  # 32,000 for a step
    ids=str,
)
def test_self_play_continues_while_the_learner_waits(part: Part, window: dict[str, Any]) -> None:
    part.run = run_of(
        selfplay={"first": "uniform"},
        window=window,
        distributed={"ahead": 1, "shard_positions": 500},
    )
    limit = 3_000  # more than the backlog of two actors
    assert work(part, Threads(), lambda: part.folder.counted(part.run) >= limit) == (0, "")


def test_a_new_network_goes_to_each_actor_once(part: Part) -> None:
    path = part.folder.candidate(20)
    path.write_bytes((ROOT / "models" / "tic_tac_toe.onnx").read_bytes())
    best = Best(name=path.name, sha256=sha256_of(path), step=20, generation=1, elo=0.0)
    workers = Threads()
    before: list[int] = []

    def all_follow() -> bool:
        if delivered(part) >= 20 and not before:
            part.folder.set_best(best)
            before.append(delivered(part))
        return workers.network_files >= 2 and delivered(part) >= before[0] + 100

    assert work(part, workers, all_follow) == (0, "")
    assert workers.network_files == 2
    assert_all_games_are_kept(part)


def contract_of(version: str = pyengine.__version__, backlog: float = 1.0) -> Contract:
    """Return the contract of an actor; ``backlog`` in megabytes."""
    run = run_of(distributed={"backlog_megabytes": backlog})
    return Contract(version=version, text=run.text, seed=1)


def test_an_actor_of_another_version_refuses_to_play() -> None:
    with pytest.raises(pyengine.ConfigError, match=r"expected pyengine 99 .*got"):
        Actor(contract_of(version="99"))


def test_an_actor_pauses_when_its_outbox_is_full() -> None:
    actor = Actor(contract_of(backlog=0.002))
    reply = actor.exchange(Order(best=UNIFORM, wait=600))
    while reply.state != "held":
        reply = actor.exchange(Order(wait=0.01))
    taken = 0
    while reply.state != "ended" or reply.packets:
        taken = max([taken, *(packet.number for packet in reply.packets)])
        reply = actor.exchange(Order(acknowledged=taken, finish=True, wait=1))
    assert reply.failed is None


def test_an_actor_removes_the_folders_of_killed_actors_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    living = Scratch()
    killed = tmp_path / "pyengine-actor-killed"
    killed.mkdir()
    (killed / ".lock").touch()
    for path in (living.path, killed):
        os.utime(path, (0, 0))
    new = Scratch()
    assert sorted(tmp_path.iterdir()) == sorted([living.path, new.path])
    new.close()
    assert list(tmp_path.iterdir()) == [living.path]
