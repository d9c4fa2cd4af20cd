"""Packets of games, the outbox and the inbox."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.data import FinishedGame, Layout, ShardWriter
from pyengine.distributed.inbox import open_inbox
from pyengine.distributed.outbox import Outbox, OutboxSink
from pyengine.distributed.packet import DamagedPacketError, Packet, unpack
from pyengine.train.loop.part import Part
from run_games import UNIFORM, data_of, numbers_in, part_in, run_of

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
        action=np.arange(positions, dtype=np.uint16),
        to_move=np.zeros(positions, np.uint8),
        full=np.ones(positions, np.uint8),
    )


def packets_of(*counts: int, game: int = 0) -> list[Packet]:
    """Return packets with these numbers of games, numbered from 1."""
    outbox = Outbox(seconds=1e9, most_bytes=1e9)
    numbers = iter(range(1000))
    for count in counts:
        with OutboxSink(outbox, game, LAYOUT) as sink:
            for _ in range(count):
                sink.add(game_of(next(numbers)))
    return outbox.take(0, 0)


def test_unpacking_a_packet_returns_its_games() -> None:
    (packet,) = packets_of(3)
    games = unpack(packet, LAYOUT)
    assert [line.number for _, line in games] == [0, 1, 2]
    for number, (rows, line) in enumerate(games):
        assert rows.tobytes() == game_of(number).records(LAYOUT).tobytes()
        assert line == game_of(number).line()


def test_a_packet_that_was_damaged_is_refused_as_a_whole() -> None:
    (packet,) = packets_of(2)
    records = packet.records.copy()
    records[5] ^= 1
    for change in ({"records": records}, {"lines": packet.lines[:-9]}):
        with pytest.raises(DamagedPacketError, match="packet 1 is damaged: expected SHA-256"):
            unpack(dataclasses.replace(packet, **change), LAYOUT)


def test_packets_stay_until_they_are_acknowledged_and_fill_the_outbox() -> None:
    outbox = Outbox(seconds=0, most_bytes=1)
    assert not outbox.full
    for number in range(3):
        OutboxSink(outbox, 0, LAYOUT).add(game_of(number))
    for acknowledged, numbers in ((0, [1, 2, 3]), (0, [1, 2, 3]), (2, [3])):
        assert [packet.number for packet in outbox.take(acknowledged, 0)] == numbers
        assert outbox.full
    assert outbox.take(3, 0) == []
    assert not outbox.full


def test_a_packet_closes_when_it_is_full_or_old() -> None:
    large = Outbox(seconds=1e9, most_bytes=1e9, positions=6)
    sink = OutboxSink(large, 0, LAYOUT)
    sink.add(game_of(0))
    assert large.take(0, 0) == []
    sink.add(game_of(1))
    assert len(large.take(0, 0)) == 1
    assert (sink.games, sink.positions) == (2, 6)
    old = Outbox(seconds=0, most_bytes=1e9)
    OutboxSink(old, 0, LAYOUT).add(game_of(0))
    assert len(old.take(0, 0)) == 1


def test_take_waits_for_a_packet() -> None:
    outbox = Outbox(seconds=0, most_bytes=1e9)
    threading.Timer(0.1, lambda: OutboxSink(outbox, 0, LAYOUT).add(game_of(0))).start()
    assert len(outbox.take(0, 600)) == 1
    threading.Timer(0.1, outbox.close).start()
    assert outbox.take(1, 600) == []


@pytest.fixture
def part(tmp_path: Path) -> Part:
    """Return the self-play part of a run."""
    return part_in(tmp_path)


def test_each_packet_is_written_once_and_in_order(part: Part) -> None:
    packets = packets_of(2, 3)
    with open_inbox(part, UNIFORM) as inbox:
        assert inbox.take("a", packets[1:]) == (0, 0)
        assert inbox.take("a", packets[:1]) == (2, 6)
        assert inbox.take("a", packets) == (3, 9)
        assert inbox.take("a", packets) == (0, 0)
        assert inbox.last_packet("a") == 2
    assert data_of(part).games == 5


def test_no_game_of_a_damaged_packet_is_used(part: Part) -> None:
    first, second = packets_of(2, 2)
    half = dataclasses.replace(second, records=second.records[: len(second.records) // 2])
    with open_inbox(part, UNIFORM) as inbox:
        with pytest.raises(DamagedPacketError):
            inbox.take("a", [first, half])
        assert (inbox.games, inbox.last_packet("a")) == (2, 1)
        assert inbox.take("a", [second]) == (2, 6)
    assert data_of(part).games == 4


def test_a_failed_write_loses_no_game_of_its_packet(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, errors = ShardWriter.add_records, iter([pyengine.DataError("the disk is full")])

    def add_and_fail_once(writer: ShardWriter, *arguments: Any) -> None:
        add(writer, *arguments)
        for error in errors:
            raise error

    monkeypatch.setattr(ShardWriter, "add_records", add_and_fail_once)
    with open_inbox(part, UNIFORM) as inbox:
        with pytest.raises(pyengine.DataError, match="full"):
            inbox.take("a", packets_of(4))
        assert inbox.last_packet("a") == 1
    assert data_of(part).games == 4


def test_games_of_all_senders_are_numbered_consecutively(part: Part) -> None:
    with open_inbox(part, UNIFORM) as inbox:
        for sender in ("a", "b"):
            inbox.take(sender, packets_of(2, 1))
    with open_inbox(part, UNIFORM) as inbox:  # the next session
        inbox.take("c", packets_of(2))
    assert numbers_in(part.folder) == list(range(8))
    assert sorted({int(row) for row in data_of(part).rows(np.arange(24))["game"]}) == [*range(8)]


def test_delivered_games_are_kept_when_the_receiver_fails(part: Part) -> None:
    def fail() -> None:
        with open_inbox(part, UNIFORM) as inbox:
            inbox.take("a", packets_of(4))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert data_of(part).games == 4
