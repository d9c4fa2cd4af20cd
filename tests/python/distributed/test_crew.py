"""A crew of actors: replacement, retries and answers."""

from __future__ import annotations

import dataclasses
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from cluster_runs import UNIFORM, data_of, numbers_in, part_in, run_of, text_of
from pyengine import train
from pyengine.distributed import crew
from pyengine.distributed.actor import Actor, Contract, Order, Reply, Scratch
from pyengine.distributed.workers import LostError, Member, Meter, room
from pyengine.train.json_files import read_lines
from pyengine.train.loop.part import PERMANENT, Part, outcome, run_part
from pyengine.train.loop.state import Best


def test_restarts_are_delayed_more_with_each_failure() -> None:
    member = Member("a", Meter(0.0))
    delays = []
    for _ in range(10):
        member.died(100.0, "words")
        delays.append(member.not_before - 100)
    assert delays == [0, 1, 2, 4, 8, 16, 32, 60, 60, 60]
    member.delivered(games=1, positions=9, now=100.0)
    member.died(100.0, "words")
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


def test_a_rate_is_the_mean_of_the_last_half_minute() -> None:
    meter = Meter(begun=0.0)
    meter.add(1.0, 100)
    assert meter.rate(10.0) == pytest.approx(10)
    meter.add(35.0, 60)
    assert meter.rate(40.0) == pytest.approx(2)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('actors = "many"', r"distributed\.actors: expected an int of at least 1 or \"auto\""),
        ("actors = 0", r"distributed\.actors: expected an int of at least 1"),
        ("cpu = 1", r"distributed\.cpu: no such setting"),
        ("resources = {player = -1}", r"distributed\.resources\.player: .*got -1"),
        ("resources = {GPU = 1}", r"distributed\.resources\.GPU: expected the setting gpus"),
        (
            "gpus = 1.5",
            r"distributed\.gpus: expected a fraction below 1, or a whole number, got 1\.5",
        ),
    ],
)
def test_a_wrong_cluster_setting_is_refused(setting: str, message: str) -> None:
    text = text_of().split("[distributed]")[0]
    with pytest.raises(pyengine.ConfigError, match=message):
        train.RunFile.from_toml(text + "[distributed]\n" + setting)


def test_a_run_may_resume_with_other_cluster_settings() -> None:
    other = text_of().replace("actors = 2", 'actors = "auto"\ngpus = 0.5')
    found = train.RunFile.from_toml(other)
    found.refuse_changes(run_of())
    assert found.distributed.actors is None


@pytest.fixture
def part(tmp_path: Path) -> Part:
    """Return the self-play part of a run."""
    return part_in(tmp_path)


class Threads:
    """A cluster in this process: each call of an Actor runs in a thread."""

    def __init__(self, *, places: int = 2) -> None:
        self.places = places
        self.players: list[Actor] = []
        self.contracts: list[Contract] = []
        self.ended: list[Any] = []
        self.network_files = 0

    def room(self) -> int:
        return self.places

    def start(self, contract: Contract) -> Any:
        self.contracts.append(contract)
        self.players.append(Actor(contract))
        return self.players[-1]

    def publish(self, data: bytes) -> Any:
        return data

    def ask(self, actor: Any, order: Order, network: Any) -> Any:
        self.network_files += network is not None
        return _Question(actor, order, network)

    def answered(self, questions: Sequence[Any], seconds: float) -> list[Any]:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = [each for each in questions if not each.thread.is_alive()]
            if found:
                return found
            time.sleep(0.01)
        return []

    def answer(self, question: Any) -> Reply:
        if question.actor in self.ended:
            raise LostError("the actor was killed", gone=True)
        if isinstance(question.found, Exception):
            raise question.found
        return question.found

    def end(self, actor: Any) -> None:
        self.ended.append(actor)
        actor.exchange(Order(finish=True))  # stops its thread


class _Question:
    def __init__(self, actor: Any, order: Order, network: Any) -> None:
        self.actor = actor
        self.found: Any = None
        self.thread = threading.Thread(target=self._ask, args=(order, network), daemon=True)
        self.thread.start()

    def _ask(self, order: Order, network: Any) -> None:
        try:
            self.found = self.actor.exchange(order, network)
        except Exception as error:
            self.found = error


def work(part: Part, workers: Any, until: Callable[[], bool]) -> tuple[int, str]:
    """Run the crew until a condition holds, then let it finish; return its outcome."""

    def watch() -> None:
        while not until() and not over.is_set():
            time.sleep(0.05)
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


def test_all_games_that_actors_report_are_in_the_folder(part: Part) -> None:
    workers = Threads()

    def all_have_played() -> bool:
        told = part.folder.status("selfplay").get("actors", [])
        return delivered(part) >= 100 and all(each["games"] > 0 for each in told)

    assert work(part, workers, all_have_played) == (0, "")
    assert len(workers.players) == 2
    data = data_of(part)
    assert data.games == delivered(part) >= 100
    told = part.folder.status("selfplay")["actors"]
    assert sum(each["games"] for each in told) == data.games


def test_actors_deliver_recorded_surprise(tmp_path: Path) -> None:
    text = run_of(first="uniform").text.replace("[search]", "record_surprise = true\n[search]", 1)
    part = part_in(tmp_path, train.RunFile.from_toml(text))
    assert work(part, Threads(), lambda: delivered(part) >= 5) == (0, "")
    rows = data_of(part).sample(99, np.random.default_rng(0))
    assert rows["surprise"].max() > 0


def test_every_actor_of_every_session_has_another_seed(part: Part) -> None:
    first, second = Threads(), Threads()
    work(part, first, lambda: delivered(part) >= 20)
    before = delivered(part)
    again = Part("selfplay", part.folder, part.run)
    work(again, second, lambda: delivered(again) >= before + 20)
    seeds = [contract.seed for contract in (*first.contracts, *second.contracts)]
    assert len(set(seeds)) == len(seeds) == 4


def test_a_killed_actor_is_replaced_and_its_games_are_kept(part: Part) -> None:
    workers = Threads()
    seen: list[int] = []

    def killed_and_replaced() -> bool:
        if not seen and delivered(part) >= 50:
            seen.append(delivered(part))
            workers.end(workers.players[0])
        return bool(seen) and len(workers.players) == 3 and delivered(part) >= seen[0] + 100

    assert work(part, workers, killed_and_replaced) == (0, "")
    assert data_of(part).games == delivered(part)
    assert numbers_in(part.folder) == list(range(delivered(part)))
    events = read_lines(part.folder.log / "actors.jsonl")
    assert [e["event"] for e in events] == ["starts", "starts", "died", "starts"]
    assert events[2]["words"] == "the actor was killed"


class Dying(Threads):
    """Actors that fail at the first call."""

    def answer(self, question: Any) -> Reply:
        raise LostError("no pyengine here", gone=True)


def test_actors_that_die_in_every_seat_end_the_run_with_their_error(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyengine.distributed.workers._BACKOFF", (0.0,))
    status, words = work(part, Dying(), lambda: False)
    assert status == 1
    assert "actors of all 2 seats died 6 times in a row" in words
    assert "no pyengine here" in words


class OneBadNode(Threads):
    """Actors of the first seat always die."""

    def answer(self, question: Any) -> Reply:
        if question.actor is not self.players[1]:
            raise LostError("a bad node", gone=True)
        return super().answer(question)


def test_a_bad_node_does_not_end_the_run(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyengine.distributed.workers._BACKOFF", (0.0, 0.01))
    workers = OneBadNode()
    ended = work(part, workers, lambda: len(workers.players) > 12 and delivered(part) >= 50)
    assert ended == (0, "")
    assert data_of(part).games == delivered(part)


class Lossy(Threads):
    """A third of each actor's answers is lost, and a third is damaged."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[Any] = Counter()

    def answer(self, question: Any) -> Reply:
        reply = super().answer(question)
        self.counts[question.actor] += 1
        if self.counts[question.actor] % 3 == 1:
            raise LostError("an object was lost", gone=False)
        if self.counts[question.actor] % 3 == 2 and reply.packets:
            damaged = dataclasses.replace(reply.packets[0], lines=b"")
            return dataclasses.replace(reply, packets=[damaged, *reply.packets[1:]])
        return reply


def test_lost_and_damaged_answers_are_requested_again(part: Part) -> None:
    workers = Lossy()
    assert work(part, workers, lambda: delivered(part) >= 50) == (0, "")
    assert len(workers.players) == 2
    assert data_of(part).games == delivered(part)
    assert numbers_in(part.folder) == list(range(delivered(part)))


class OneDamaged(Threads):
    """All packets of the first actor are damaged."""

    def answer(self, question: Any) -> Reply:
        reply = super().answer(question)
        if question.actor is not self.players[0]:
            return reply
        packets = [dataclasses.replace(each, lines=b"") for each in reply.packets]
        return dataclasses.replace(reply, packets=packets)


def test_an_actor_whose_packets_are_always_damaged_is_replaced(part: Part) -> None:
    workers = OneDamaged()
    assert work(part, workers, lambda: len(workers.players) == 3) == (0, "")
    (died,) = [e for e in read_lines(part.folder.log / "actors.jsonl") if e["event"] == "died"]
    assert "packet 1 is damaged: expected SHA-256" in died["words"]


class OneHangs(Threads):
    """The first actor stops answering after its first delivery."""

    played = False

    def answered(self, questions: Sequence[Any], seconds: float) -> list[Any]:
        found = super().answered(questions, seconds)
        return [each for each in found if each.actor is not self.players[0] or not self.played]

    def answer(self, question: Any) -> Reply:
        reply = super().answer(question)
        self.played = self.played or (question.actor is self.players[0] and bool(reply.packets))
        return reply


def test_a_hanging_actor_is_replaced_and_its_games_are_kept(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "_ANSWER_SECONDS", 5.0)
    monkeypatch.setattr(crew, "_WAIT", 0.1)
    workers, deadline = OneHangs(), time.monotonic() + 120

    def replaced() -> bool:
        played = len(workers.players) >= 3 and delivered(part) >= 50
        return played or time.monotonic() > deadline

    assert work(part, workers, replaced) == (0, "")
    assert workers.players[0] in workers.ended
    assert numbers_in(part.folder) == list(range(delivered(part)))
    died = [e for e in read_lines(part.folder.log / "actors.jsonl") if e["event"] == "died"]
    assert died[0]["words"] == "no answer within 5 s"


def test_a_damaged_network_ends_the_run(part: Part) -> None:
    path = part.folder.candidate(20)
    path.write_bytes(b"half a netw")
    part.folder.set_best(dataclasses.replace(UNIFORM, name=path.name, sha256="0" * 64))
    status, words = work(part, Threads(), lambda: False)
    assert status == PERMANENT
    assert f"{path} is damaged: expected SHA-256 000" in words


def test_a_new_node_gets_actors(part: Part) -> None:
    config = part.run.distributed.replace(actors="auto")
    part.run = part.run.replace(distributed=config)
    workers = Threads(places=1)

    def joined() -> bool:
        if delivered(part) >= 20:
            workers.places = 3
        told = part.folder.status("selfplay").get("actors", [])
        return len(told) == 3 and all(each["games"] > 0 for each in told)

    assert work(part, workers, joined) == (0, "")
    assert len(workers.players) == 3


def states(part: Part) -> set[str]:
    """Return the states of the actors."""
    return {each["state"] for each in part.folder.status("selfplay").get("actors", [])}


def test_self_play_waits_for_a_slow_learner(part: Part) -> None:
    config = part.run.distributed.replace(ahead=300, shard_positions=500)
    part.run = part.run.replace(distributed=config)
    assert work(part, Threads(), lambda: states(part) == {"held"}) == (0, "")
    assert data_of(part).games > 0


@pytest.mark.parametrize("window", ["minimum_positions = 40_000", "samples_per_position = 0.001"])
def test_self_play_continues_while_the_learner_waits(part: Part, window: str) -> None:
    name = window.split(" = ")[0]
    lines = [line for line in part.run.text.splitlines() if not line.startswith(name)]
    text = "\n".join(lines).replace("[window]", f"[window]\n{window}")
    run = train.RunFile.from_toml(text)  # a step needs 32 / 0.001 positions
    config = run.distributed.replace(ahead=1, shard_positions=500)
    part.run = run.replace(distributed=config)
    limit = 10_000  # more than the backlog of two actors
    assert work(part, Threads(), lambda: part.folder.counted(part.run) >= limit) == (0, "")


def test_a_new_network_goes_to_each_actor_once(part: Part) -> None:
    pytest.importorskip("torch", reason="networks are made with PyTorch: the extra train")
    pytest.importorskip("onnx", reason="export needs onnx: the extra train")
    best = network_in(part)
    workers = Threads()
    told: list[int] = []

    def all_follow() -> bool:
        if delivered(part) >= 20 and not told:
            part.folder.set_best(best)
            told.append(delivered(part))
        return workers.network_files >= 2 and delivered(part) >= told[0] + 200

    assert work(part, workers, all_follow) == (0, "")
    assert workers.network_files == 2
    assert data_of(part).games == delivered(part)


def network_in(part: Part) -> Best:
    """Put a network into the run's folder."""
    network = train.need("pyengine.train.network").new_network(part.run.train, 3, (3, 3), 9)
    path = part.folder.candidate(20)
    train.export(network, part.run.games, part.run.spec, path)
    sha256 = pyengine.base.files.sha256_of(path)
    return Best(name=path.name, sha256=sha256, step=20, generation=1, elo=0.0)


def contract_of(version: str = pyengine.__version__, backlog: float = 1.0) -> Contract:
    """Return the contract of an actor; ``backlog`` in megabytes."""
    text = text_of(first="uniform").replace(
        "backlog_megabytes = 0.1", f"backlog_megabytes = {backlog}"
    )
    return Contract(version=version, text=text, seed=1)


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


def test_an_error_that_would_end_every_actor_ends_the_run(part: Part) -> None:
    class Permanent(Threads):
        def answer(self, question: Any) -> Reply:
            reply = super().answer(question)
            told = {"state": "ended", "packets": [], "failed": "ConfigError: no", "permanent": True}
            return dataclasses.replace(reply, **told)

    status, words = work(part, Permanent(), lambda: False)
    assert status == PERMANENT
    assert "self-play failed: ConfigError: no" in words
