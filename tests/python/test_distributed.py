"""A run on a cluster: packets, the places where they are received, who replaces whom; and Ray."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import distributed, train
from pyengine.data import Dataset, FinishedGame, Layout
from pyengine.data.manifest import read_games
from pyengine.distributed import crew
from pyengine.distributed.inbox import Inbox
from pyengine.distributed.outbox import Outbox
from pyengine.distributed.packet import DamagedPacketError, Packet, unpack
from pyengine.distributed.player import Contract, Order, Player, Reply
from pyengine.distributed.policy import Meter, Place, room
from pyengine.distributed.scratch import Scratch
from pyengine.distributed.throughput import (
    ALPHAGO_ZERO_GAMES,
    ActorRate,
    Games,
    Learning,
    Plan,
    Shipping,
)
from pyengine.distributed.throughput import main as throughput_main
from pyengine.distributed.workers import LostError
from pyengine.train.files import read_lines
from pyengine.train.part import outcome
from pyengine.train.parts import PERMANENT, Part
from pyengine.train.state import Best, RunFolder

RAY = importlib.util.find_spec("ray") is not None
TORCH = all(importlib.util.find_spec(name) for name in ("torch", "onnx"))

needs_ray = pytest.mark.skipif(
    not (RAY and TORCH) or os.name == "nt",
    reason="needs Ray and PyTorch: the extras distributed and train",
)

RUN = """
[run]
name = "tiny"
{limits}
[game]
name = "tic_tac_toe"
planes = ["own[0]", "opp[0]", "ones"]
[network]
kind = "convolutional"
blocks = 1
filters = 8
[selfplay]
first = "{first}"
preset = "fast"
full_search_fraction = 1.0
opening_random_moves = 3
concurrent_games = 8
resign_threshold = "none"
[search]
simulations = 16
threads = 1
batch_size = 8
in_flight = 1
[train]
batch_size = 32
threads = 1
checkpoint_steps = 20
log_steps = 10
[train.optimiser]
kind = "adamw"
schedule = "constant"
learning_rate = 2e-3
[window]
minimum_positions = 100
start = 2000
samples_per_position = 16
[gate]
mode = "latest"
every_steps = 20
games = 4
simulations = 4
plies = 2
batch_size = 16
[distributed]
actors = 2
delivery_seconds = 0.2
shard_positions = {shards}
backlog_megabytes = 0.1
"""


def run_of(limits: str = "", *, first: str = "random", shards: int = 65_536) -> train.RunFile:
    """Return a run that takes seconds."""
    return train.RunFile.from_toml(text_of(limits, first=first, shards=shards))


def text_of(limits: str = "", *, first: str = "random", shards: int = 65_536) -> str:
    """Return its text."""
    return RUN.format(limits=limits, first=first, shards=shards)


# --- a game, packed and unpacked ------------------------------------------------------------------

LAYOUT = Layout.of(pyengine.load_game("tic_tac_toe"), run_of().spec)


def game_of(number: int, positions: int = 3) -> FinishedGame:
    """Return a made-up game."""
    rng = np.random.default_rng(number)
    bits, fill, dense = (np.zeros((positions, *shape)) for shape in LAYOUT.column_shapes.values())
    return FinishedGame(
        number=number,
        returns=(1.0, -1.0),
        moves=np.arange(positions, dtype=np.uint16),
        bits=rng.integers(0, 255, bits.shape, dtype=np.uint8),
        fill=fill.astype(np.float32),
        dense=dense.astype(np.float32),
        visits=rng.integers(1, 9, (positions, LAYOUT.actions), dtype=np.uint16),
        root_value=np.zeros(positions, np.float32),
        network_value=np.zeros(positions, np.float32),
        ply=np.arange(positions, dtype=np.uint16),
        action=np.zeros(positions, np.uint16),
        to_move=np.zeros(positions, np.uint8),
        full=np.ones(positions, np.uint8),
    )


def packets_of(*counts: int, game: int = 0) -> list[Packet]:
    """Return packets of so many games each, numbered from 1."""
    outbox = Outbox(seconds=1e9, most_bytes=1e9)
    numbers = iter(range(1000))
    for count in counts:
        with outbox.sink(game, LAYOUT) as sink:
            for _ in range(count):
                sink.add(game_of(next(numbers)))
    return outbox.take(0, 0)


def test_a_packet_gives_back_the_games_that_went_in() -> None:
    (packet,) = packets_of(3)
    found = unpack(packet, LAYOUT)
    assert [line.number for _, line in found] == [0, 1, 2]
    for number, (rows, line) in enumerate(found):
        assert rows.tobytes() == game_of(number).records(LAYOUT).tobytes()
        assert line == game_of(number).line()


def test_a_packet_that_was_damaged_is_refused_as_a_whole() -> None:
    (packet,) = packets_of(2)
    records = packet.records.copy()
    records[5] ^= 1
    for change in ({"records": records}, {"lines": packet.lines[:-9]}):
        with pytest.raises(DamagedPacketError, match="packet 1 is damaged: expected SHA-256"):
            unpack(dataclasses.replace(packet, **change), LAYOUT)
    other = Layout.of(pyengine.load_game("connect_four"), run_of().spec)
    with pytest.raises(DamagedPacketError, match="expected 6 records of"):
        unpack(packet, other)


# --- the sending side -----------------------------------------------------------------------------


def test_packets_stay_until_they_are_acknowledged() -> None:
    outbox = Outbox(seconds=1e9, most_bytes=1e9)
    for _ in range(3):
        with outbox.sink(0, LAYOUT) as sink:
            sink.add(game_of(1))
    assert [each.number for each in outbox.take(0, 0)] == [1, 2, 3]
    assert [each.number for each in outbox.take(0, 0)] == [1, 2, 3]
    assert [each.number for each in outbox.take(2, 0)] == [3]
    assert outbox.take(3, 0) == []
    assert outbox.bytes == 0


def test_a_packet_closes_when_it_is_full_or_old() -> None:
    large = Outbox(seconds=1e9, most_bytes=1e9, positions=6)
    sink = large.sink(0, LAYOUT)
    sink.add(game_of(0))
    assert large.take(0, 0) == []
    sink.add(game_of(1))
    assert len(large.take(0, 0)) == 1
    assert (sink.games, sink.positions) == (2, 6)
    old = Outbox(seconds=0, most_bytes=1e9)
    old.sink(0, LAYOUT).add(game_of(0))
    assert len(old.take(0, 0)) == 1


def test_an_outbox_that_nobody_empties_is_full() -> None:
    outbox = Outbox(seconds=0, most_bytes=1)
    assert not outbox.full
    outbox.sink(0, LAYOUT).add(game_of(0))
    assert outbox.full
    outbox.take(1, 0)
    assert not outbox.full


def test_who_waits_for_a_packet_gets_it_when_it_comes() -> None:
    outbox = Outbox(seconds=0, most_bytes=1e9)
    threading.Timer(0.1, lambda: outbox.sink(0, LAYOUT).add(game_of(0))).start()
    assert len(outbox.take(0, 600)) == 1
    threading.Timer(0.1, outbox.close).start()
    assert outbox.take(1, 600) == []


# --- the receiving side ---------------------------------------------------------------------------


@pytest.fixture
def part(tmp_path: Path) -> Part:
    """Return self-play of a run in a folder, with a best player that is no network."""
    folder = RunFolder(tmp_path / "run")
    run = run_of(first="uniform")
    folder.begin(run)
    folder.set_best(UNIFORM)
    return Part("selfplay", folder, run)


UNIFORM = Best(name="uniform", sha256=None, step=0, generation=0, elo=0.0)


def data_of(part: Part) -> Dataset:
    """Return what the run's folder has, every byte of it checked."""
    return Dataset(part.folder.data("tic_tac_toe"), verify=True)


def numbers_in(part: Part) -> list[int]:
    """Return the numbers of the games in the folder, as the shards' lists have them."""
    lists = sorted(part.folder.data("tic_tac_toe").glob("*.games.jsonl"))
    return [line.number for path in lists for line in read_games(path)]


def test_a_packet_that_comes_twice_counts_once(part: Part) -> None:
    packets = packets_of(2, 3)
    with Inbox(part, UNIFORM) as inbox:
        assert inbox.take("a", packets[:1]) == (2, 6)
        assert inbox.take("a", packets) == (3, 9)
        assert inbox.take("a", packets) == (0, 0)
        assert inbox.taken("a") == 2
    assert data_of(part).games == 5


def test_a_packet_that_does_not_follow_the_last_is_left(part: Part) -> None:
    first, second = packets_of(1, 1)
    with Inbox(part, UNIFORM) as inbox:
        assert inbox.take("a", [second]) == (0, 0)
        assert inbox.take("a", [first, second]) == (2, 6)


def test_half_a_packet_is_none(part: Part) -> None:
    first, second = packets_of(2, 2)
    half = dataclasses.replace(second, records=second.records[: len(second.records) // 2])
    with Inbox(part, UNIFORM) as inbox:
        with pytest.raises(DamagedPacketError):
            inbox.take("a", [first, half])
        assert (inbox.games, inbox.taken("a")) == (2, 1)
        assert inbox.take("a", [second]) == (2, 6)
    assert data_of(part).games == 4


def test_games_of_all_senders_are_numbered_as_if_one_had_played_them(part: Part) -> None:
    with Inbox(part, UNIFORM) as inbox:
        for sender in ("a", "b"):
            inbox.take(sender, packets_of(2, 1))
    with Inbox(part, UNIFORM) as inbox:  # the next sitting
        inbox.take("c", packets_of(2))
    assert numbers_in(part) == list(range(8))
    assert sorted({int(row) for row in data_of(part).rows(np.arange(24))["game"]}) == [*range(8)]


def test_what_was_delivered_is_there_when_the_receiver_fails(part: Part) -> None:
    def fail() -> None:
        with Inbox(part, UNIFORM) as inbox:
            inbox.take("a", packets_of(4))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert data_of(part).games == 4


# --- rules ----------------------------------------------------------------------------------------


def test_who_dies_after_a_delivery_is_replaced_at_once_and_others_later_and_later() -> None:
    place = Place("a")
    waits = []
    for _ in range(10):
        place.died(100.0, "words")
        waits.append(place.not_before - 100)
    assert waits == [0, 1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert place.failing(9)
    place.delivered()
    assert not place.failing(0)
    place.died(100.0, "words")
    assert place.not_before == 100
    assert place.deaths == 11


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
        ('actors = "many"', r'distributed\.actors: expected an int of at least 1, or "auto"'),
        ("actors = 0", r"distributed\.actors: expected an int of at least 1"),
        ("cpu = 1", r"distributed\.cpu: no such setting"),
        ("resources = {player = -1}", r"distributed\.resources\.player: .*found -1"),
        ("resources = {GPU = 1}", r"distributed\.resources\.GPU: expected the setting gpus"),
        ("gpus = 1.5", r"distributed\.gpus: expected a part of one, or a whole number, found 1\.5"),
    ],
)
def test_a_setting_of_the_cluster_that_is_wrong_is_named(setting: str, message: str) -> None:
    text = text_of().split("[distributed]")[0]
    with pytest.raises(pyengine.ConfigError, match=message):
        train.RunFile.from_toml(text + "[distributed]\n" + setting)


def test_a_run_may_go_on_with_other_settings_of_the_cluster() -> None:
    other = text_of().replace("actors = 2", 'actors = "auto"\ngpus = 0.5')
    found = train.RunFile.from_toml(other)
    found.refuse_changes(run_of())
    assert found.distributed.actors is None


# --- a crew whose actors live in this process -----------------------------------------------------


class Threads:
    """A cluster in this process: every actor is a Player; a question is answered by a thread."""

    def __init__(self, *, places: int = 2) -> None:
        self.places = places
        self.players: list[Player] = []
        self.contracts: list[Contract] = []
        self.ended: list[Any] = []
        self.network_files = 0

    def room(self) -> int:
        return self.places

    def start(self, contract: Contract) -> Any:
        self.contracts.append(contract)
        self.players.append(Player(contract))
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
        actor.exchange(Order(finish=True))  # it must not go on in this process


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
    """Run the crew until something is true, then let it finish; return how it ended."""

    def watch() -> None:
        while not until() and not over.is_set():
            time.sleep(0.05)
        part.finish()

    over = threading.Event()
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        told = outcome("selfplay", part.folder, lambda _: None, lambda _: crew.work(part, workers))
    finally:
        over.set()
        thread.join()
    return told


def delivered(part: Part) -> int:
    """Return how many games the crew says it has."""
    return int(part.folder.status("selfplay").get("games", 0))


def test_actors_play_and_all_they_say_they_played_is_in_the_folder(part: Part) -> None:
    workers = Threads()
    assert work(part, workers, lambda: delivered(part) >= 100) == (0, "")
    assert len(workers.players) == 2
    data = data_of(part)
    assert data.games == delivered(part) >= 100
    told = part.folder.status("selfplay")["actors"]
    assert sum(each["games"] for each in told) == data.games
    assert all(each["games"] > 0 for each in told)


def test_no_two_actors_have_the_same_random_numbers_in_any_sitting(part: Part) -> None:
    first, second = Threads(), Threads()
    work(part, first, lambda: delivered(part) >= 20)
    before = delivered(part)
    again = Part("selfplay", part.folder, part.run)
    work(again, second, lambda: delivered(again) >= before + 20)
    seeds = [contract.seed for contract in (*first.contracts, *second.contracts)]
    assert len(set(seeds)) == len(seeds) == 4


def test_an_actor_that_is_killed_is_replaced_and_what_it_delivered_stays(part: Part) -> None:
    workers = Threads()
    seen: list[int] = []

    def killed_and_replaced() -> bool:
        if not seen and delivered(part) >= 50:
            seen.append(delivered(part))
            workers.end(workers.players[0])
        return bool(seen) and len(workers.players) == 3 and delivered(part) >= seen[0] + 100

    assert work(part, workers, killed_and_replaced) == (0, "")
    assert data_of(part).games == delivered(part)
    assert numbers_in(part) == list(range(delivered(part)))
    events = read_lines(part.folder.log / "actors.jsonl")
    assert [e["event"] for e in events] == ["starts", "starts", "died", "starts"]
    assert events[2]["words"] == "the actor was killed"


class Dying(Threads):
    """Actors that fail as soon as they are asked."""

    def answer(self, question: Any) -> Reply:
        raise LostError("no pyengine here", gone=True)


def test_actors_that_die_everywhere_end_the_run_with_their_last_words(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyengine.distributed.policy._BACKOFF", (0.0,))
    status, words = work(part, Dying(), lambda: False)
    assert status == 1
    assert "actors die at every place (2), 6 times each" in words
    assert "no pyengine here" in words


class OneBadNode(Threads):
    """The first place gets an actor that dies, always."""

    def answer(self, question: Any) -> Reply:
        if question.actor is not self.players[1]:
            raise LostError("a bad node", gone=True)
        return super().answer(question)


def test_a_bad_node_does_not_end_a_run_that_plays_elsewhere(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyengine.distributed.policy._BACKOFF", (0.0, 0.01))
    workers = OneBadNode()
    ended = work(part, workers, lambda: len(workers.players) > 12 and delivered(part) >= 50)
    assert ended == (0, "")
    assert data_of(part).games == delivered(part)


class Lossy(Threads):
    """Of each actor's answers every third is lost on the way, and every third comes damaged."""

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


def test_answers_that_are_lost_or_damaged_are_asked_for_again(part: Part) -> None:
    workers = Lossy()
    assert work(part, workers, lambda: delivered(part) >= 50) == (0, "")
    assert len(workers.players) == 2
    assert data_of(part).games == delivered(part)
    assert numbers_in(part) == list(range(delivered(part)))


class OneDamaged(Threads):
    """All packets of the first actor come damaged."""

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


def test_a_network_that_is_damaged_in_the_folder_ends_the_run(part: Part) -> None:
    path = part.folder.candidate(20)
    path.write_bytes(b"half a netw")
    part.folder.set_best(dataclasses.replace(UNIFORM, name=path.name, sha256="0" * 64))
    status, words = work(part, Threads(), lambda: False)
    assert status == PERMANENT
    assert f"{path} is damaged: expected SHA-256 000" in words


def test_a_node_that_joins_gets_actors_and_needs_no_change(part: Part) -> None:
    config = part.run.distributed.replace(actors="auto")
    part.run = dataclasses.replace(part.run, distributed=config)
    workers = Threads(places=1)

    def joined() -> bool:
        if delivered(part) >= 20:
            workers.places = 3
        told = part.folder.status("selfplay").get("actors", [])
        return len(told) == 3 and all(each["games"] > 0 for each in told)

    assert work(part, workers, joined) == (0, "")
    assert len(workers.players) == 3


def states(part: Part) -> set[str]:
    """Return what the actors are doing."""
    return {each["state"] for each in part.folder.status("selfplay").get("actors", [])}


def test_self_play_waits_for_a_learner_that_lags_behind(part: Part) -> None:
    config = part.run.distributed.replace(ahead=300, shard_positions=500)
    part.run = dataclasses.replace(part.run, distributed=config)
    assert work(part, Threads(), lambda: states(part) == {"held"}) == (0, "")
    assert data_of(part).games > 0


@pytest.mark.parametrize("window", ["minimum_positions = 40_000", "samples_per_position = 0.001"])
def test_self_play_goes_on_while_the_learner_cannot_do_a_step(part: Part, window: str) -> None:
    name = window.split(" = ")[0]
    lines = [line for line in part.run.text.splitlines() if not line.startswith(name)]
    text = "\n".join(lines).replace("[window]", f"[window]\n{window}")
    run = train.RunFile.from_toml(text)  # 32 / 0.001 positions are a step
    config = run.distributed.replace(ahead=1, shard_positions=500)
    part.run = dataclasses.replace(run, distributed=config)
    much = 10_000  # more than the backlog of two actors
    assert work(part, Threads(), lambda: part.folder.counted(part.run) >= much) == (0, "")


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
    sha256 = pyengine.bundled.sha256_of(path)
    return Best(name=path.name, sha256=sha256, step=20, generation=1, elo=0.0)


def contract_of(**changes: Any) -> Contract:
    """Return a contract for a player."""
    given = {
        "version": pyengine.__version__,
        "text": run_of(first="uniform").text,
        "seed": 1,
        "threads": 1,
        "delivery_seconds": 0.05,
        "backlog_bytes": 1e6,
    }
    return Contract(**{**given, **changes})


def test_an_actor_of_another_version_refuses_to_play() -> None:
    with pytest.raises(pyengine.ConfigError, match=r"expected pyengine 99, .*found"):
        Player(contract_of(version="99"))


def test_an_actor_pauses_when_nobody_takes_what_it_played() -> None:
    player = Player(contract_of(backlog_bytes=2000.0))
    reply = player.exchange(Order(best=UNIFORM, wait=600))
    while reply.state != "held":
        reply = player.exchange(Order())
    held = -1
    while held != (held := player._part.outbox.bytes):  # games that were over are still written
        time.sleep(0.5)
    taken = 0
    while reply.state != "ended" or reply.packets:
        taken = max([taken, *(packet.number for packet in reply.packets)])
        reply = player.exchange(Order(acknowledged=taken, finish=True))
    assert reply.failed is None


def test_folders_of_killed_actors_are_removed_by_the_next_one_and_others_are_not(
    tmp_path: Path,
) -> None:
    pytest.importorskip("fcntl", reason="locks need fcntl")
    living = Scratch(tmp_path)
    killed = tmp_path / "pyengine-actor-killed"
    killed.mkdir()
    (killed / ".lock").touch()
    for path in (living.path, killed):
        os.utime(path, (0, 0))
    new = Scratch(tmp_path)
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
    assert "self-play cannot go on: ConfigError: no" in words


# --- how fast -------------------------------------------------------------------------------------


def alphago_zero(actors: int) -> Plan:
    """Return AlphaGo Zero's run as the paper describes it; 200 moves a game are assumed."""
    samples = 700_000 * 2048 / (3 * 86_400)  # steps of so many positions in three days
    return Plan(
        actors=actors,
        actor=ActorRate(evaluations=1600 / 0.4),  # a search of 1,600 takes 0.4 s
        games=Games(moves=200, simulations=1600),
        learning=Learning(samples=samples, samples_per_position=1.46),
        shipping=Shipping(),
    )


def test_the_model_gives_alphago_zeros_three_days(oracle: Callable[[str], Any]) -> None:
    (constants,) = oracle("10-published-constants/constants.json")
    published = constants["alphago_zero_2017"]
    run = published["run_3_days"]
    assert run["games"] == ALPHAGO_ZERO_GAMES
    assert Games().simulations == published["selfplay_simulations_per_move"]
    plan = alphago_zero(actors=1512)
    assert plan.seconds(run["games"]) / 86_400 == pytest.approx(3, rel=0.01)
    assert plan.games_per_second == pytest.approx(18.9, rel=0.01)
    learnt = run["steps"] * run["mini_batch"] / (run["games"] * plan.games.positions)
    assert plan.samples_per_position == pytest.approx(learnt, rel=0.01)
    assert plan.learner_busy > 0.99
    between = 3 * 86_400 / run["steps"] * published["checkpoint_every_steps"]
    assert Shipping().seconds_of_a_network == pytest.approx(between, rel=0.01)


def test_more_actors_than_the_learner_eats_lower_how_often_a_position_is_learnt() -> None:
    enough = alphago_zero(actors=1).actors_that_fill_the_learner
    few, many = alphago_zero(round(enough / 2)), alphago_zero(round(enough * 2))
    assert few.learner_busy == pytest.approx(0.5, rel=0.01)
    assert few.samples_per_position == 1.46
    assert many.learner_busy == 1
    assert many.samples_per_position == pytest.approx(0.73, rel=0.01)


def test_positions_without_a_full_search_travel_but_are_not_learnt() -> None:
    full, some = Games(learnt=1.0), Games(learnt=0.25)
    plans = [dataclasses.replace(alphago_zero(8), games=games) for games in (full, some)]
    assert plans[0].games_per_second == plans[1].games_per_second
    assert plans[0].bytes_in == plans[1].bytes_in
    assert plans[0].positions_per_second == 4 * plans[1].positions_per_second


def test_the_table_of_the_model_has_a_row_for_each_number_of_actors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert throughput_main(["--actors", "1512", "3024", "--samples-per-position", "1.46"]) == 0
    head, *rows, last = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "actors"
    assert [row.split()[0] for row in rows] == ["1,512", "3,024"]
    assert [float(row.split()[-1]) for row in rows] == [3.0, 1.5]
    assert "until 4,900,000 games" in last
    with pytest.raises(SystemExit):
        throughput_main(["--moves", "0"])
    assert "moves: expected > 0, found 0" in capsys.readouterr().err


def test_the_model_foretells_the_positions_of_self_play_from_its_rows(tmp_path: Path) -> None:
    config = pyengine.SelfPlayConfig(
        search=pyengine.SearchConfig(simulations=20, threads=1, cache_entries=0),
        concurrent_games=8,
    )
    measured = [
        pyengine.selfplay(
            "connect_four", "connect4", games=games, out=tmp_path / str(games), config=config
        )
        for games in (20, 40)
    ]
    games = Games.measured(measured[0].to_dict())
    rate = ActorRate.measured(measured[1].to_dict())
    found = rate.positions(games) * measured[1].seconds
    assert found == pytest.approx(measured[1].positions, rel=0.15)
    assert rate.games(games) * measured[1].seconds == pytest.approx(40, rel=0.2)
    with pytest.raises(pyengine.ConfigError, match=r"report\.games: expected > 0, found 0"):
        Games.measured(pyengine.SelfPlayReport().to_dict())


def test_the_table_takes_what_self_play_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = {"games": 10, "positions": 400, "simulations": 40_000, "evaluations": 20_000}
    (tmp_path / "here.json").write_text(json.dumps({**counts, "seconds": 2.0}))
    command = ["--measured", str(tmp_path / "here.json"), "--actors", "3", "--goal", "150"]
    assert throughput_main(command) == 0
    row = capsys.readouterr().out.splitlines()[1].split()
    assert row[:4] == ["3", "30,000", "15", "600.0"]


# --- Ray ------------------------------------------------------------------------------------------

_WITHOUT = """
import sys
sys.modules["ray"] = None
import pyengine.distributed
try:
    pyengine.distributed.train(pyengine.train.RunFile.from_toml(sys.argv[1]), sys.argv[2])
except pyengine.EngineError as error:
    print(error)
"""


def test_without_ray_the_package_imports_and_the_error_names_the_extra(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _WITHOUT, run_of().text, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "needs the package ray: pip install 'pyengine-search[distributed]'" in done.stdout


def test_a_client_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pyengine.ConfigError, match="expected to run on a node of the cluster"):
        distributed.train(run_of(), tmp_path, address="ray://10.0.0.1:10001")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--actors", "2", "x.toml"], "--actors needs --ray"),
        (["--ray", "local", "--part", "gate", "x.toml"], "--part runs here alone"),
    ],
)
def test_wrong_use_of_the_command_is_told(arguments: list[str], message: str) -> None:
    pytest.importorskip("typer", reason="the command needs the extra cli")
    command = [sys.executable, "-m", "pyengine.cli", "train", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


def apart(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function in a fresh process: Ray leaves threads behind that other tests need not."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        pool.submit(function, *arguments).result()


@needs_ray
@pytest.mark.parametrize(
    "actors", [2, pytest.param(4, marks=pytest.mark.slow)], ids=lambda count: f"{count}-actors"
)
def test_a_run_survives_the_death_of_an_actor_and_goes_on_without_ray(
    actors: int, tmp_path: Path
) -> None:
    apart(run_in_which_an_actor_dies, actors, tmp_path)
    folder = RunFolder(tmp_path)
    data = Dataset(folder.data("tic_tac_toe"), verify=True)
    events = [event["event"] for event in read_lines(folder.log / "actors.jsonl")]
    assert events == ["starts"] * actors + ["died", "starts"]
    best = folder.best()
    assert best is not None
    assert best.is_network
    if actors == 4:
        steps = folder.status("learner")["step"] + 20
        local = train.train_run(run_of(f"steps = {steps}"), tmp_path, resume=True)
        assert (local.reason, local.progress.step) == ("steps", steps)
        assert local.progress.games >= data.games


def run_in_which_an_actor_dies(actors: int, path: Path) -> None:
    """Run until an actor that was killed has a successor that plays, and the learner has learnt."""
    killed: list[tuple[int, int]] = []

    def kill_one(progress: train.RunProgress) -> bool:
        playing = [each for each in progress.actors if each.games and each.pid is not None]
        if not killed and len(playing) == actors and progress.step > 0:
            pid = playing[0].pid
            assert pid is not None
            killed.append((pid, progress.games))
            os.kill(pid, signal.SIGKILL)
        back = [each for each in playing if each.deaths and each.pid != killed[0][0]]
        return not (killed and back and progress.games > killed[0][1] and progress.step >= 20)

    report = distributed.train(run_of(shards=500), path, actors=actors, on_progress=kill_one)
    assert (report.reason, report.progress.restarts) == ("stopped", 0)
    folder = RunFolder(path)
    data = Dataset(folder.data("tic_tac_toe"), verify=True)
    assert data.games == report.progress.games == delivered_in(folder) > killed[0][1]
    lists = sorted(folder.data("tic_tac_toe").glob("*.games.jsonl"))
    numbers = [line.number for listed in lists for line in read_games(listed)]
    assert numbers == list(range(data.games))


@needs_ray
@pytest.mark.slow
def test_a_learner_that_dies_comes_back_though_actors_wait_for_room(tmp_path: Path) -> None:
    apart(run_in_which_the_learner_dies, tmp_path)


def run_in_which_the_learner_dies(path: Path) -> None:
    """Kill the learner where more actors are asked for than there is room; run until it learns."""
    folder = RunFolder(path)
    killed: list[tuple[int, int]] = []

    def kill_it(progress: train.RunProgress) -> bool:
        told = folder.status("learner")
        if not killed and progress.step > 0 and any(each.games for each in progress.actors):
            killed.append((told["pid"], progress.step))
            os.kill(told["pid"], signal.SIGKILL)
        back = killed and told["pid"] != killed[0][0] and progress.step > killed[0][1]
        starving = progress.restarts > 0 and Counter(e.state for e in progress.actors)["starts"] < 3
        assert not starving, progress.actors
        return not back

    options = {"num_cpus": 3}
    distributed.train(run_of(shards=500), path, actors=4, on_progress=kill_it, options=options)


@needs_ray
@pytest.mark.slow
def test_ctrl_c_on_a_cluster_keeps_what_was_played_and_resume_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("typer", reason="the command needs the extra cli")
    file, folder = tmp_path / "run.toml", RunFolder(tmp_path / "run")
    command = [sys.executable, "-m", "pyengine.cli", "train", str(file), "--ray", "local"]
    command += ["--directory", str(folder.path), "--json"]
    file.write_text(text_of(shards=500))
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while folder.status("learner").get("step", 0) < 5:
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode == 130
    before = folder.produced("tic_tac_toe").games
    assert Dataset(folder.data("tic_tac_toe"), verify=True).games == before == delivered_in(folder)
    step = max(int(path.stem[-10:]) for path in folder.checkpoints.glob("*.pt"))
    file.write_text(run_of(f"steps = {step + 20}").text)
    again = subprocess.run([*command, "--resume"], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert (told["reason"], told["step"]) == ("steps", step + 20)
    assert told["games"] > before


def delivered_in(folder: RunFolder) -> int:
    """Return how many games the receiver said it had."""
    return int(folder.status("selfplay")["games"])


@needs_ray
@pytest.mark.slow
def test_a_node_that_joins_plays_and_one_that_vanishes_costs_no_game(tmp_path: Path) -> None:
    apart(run_in_which_nodes_come_and_go, tmp_path)


def run_in_which_nodes_come_and_go(path: Path) -> None:
    """Run on one node, then on two, then on one again."""
    cluster_utils = importlib.import_module("ray.cluster_utils")
    cluster = cluster_utils.Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 3, "include_dashboard": False},
    )
    joined: list[Any] = []
    gone: list[int] = []

    def join_and_vanish(progress: train.RunProgress) -> bool:
        playing = [each for each in progress.actors if each.state == "plays" and each.games]
        if len(playing) == 1 and not joined:
            joined.append(cluster.add_node(num_cpus=2))
        if len(playing) == 3 and not gone:
            cluster.remove_node(joined[0], allow_graceful=False)
            gone.append(progress.games)
        return not (gone and len(progress.actors) == 1 and progress.games > gone[0])

    try:
        report = distributed.train(
            run_of(shards=500),
            path,
            address=cluster.address,
            actors="auto",
            on_progress=join_and_vanish,
        )
    finally:
        cluster.shutdown()
    assert gone
    data = Dataset(RunFolder(path).data("tic_tac_toe"), verify=True)
    assert data.games == report.progress.games > gone[0]
