"""Augmented datasets in PyTorch's DataLoader over several epochs."""

from __future__ import annotations

import multiprocessing
import pickle
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data_games import PLAIN, TIC, keys, some, write
from pyengine.data import Dataset
from pyengine.data.loader import Row


@pytest.fixture
def dataset(rng: random.Random, tmp_path: Path) -> Dataset:
    """Six augmented games of tic-tac-toe, with eight symmetries per row."""
    return Dataset(write(tmp_path, TIC, PLAIN, some(rng, 6)), augment=True)


@pytest.fixture
def plain(dataset: Dataset, tmp_path: Path) -> Dataset:
    """The same data without augmentation."""
    return Dataset(tmp_path)


def loader_of(dataset: Any, workers: int, **options: Any) -> Any:
    """Return a DataLoader whose workers fork, or skip the test without PyTorch."""
    torch = pytest.importorskip("torch")
    if workers > 0:
        if "fork" not in multiprocessing.get_all_start_methods():
            pytest.skip("fork is not supported")
        options["multiprocessing_context"] = "fork"
    options = {"batch_size": 16, "shuffle": True, **options}
    return torch.utils.data.DataLoader(dataset, num_workers=workers, **options)


def epoch(loader: Any) -> dict[tuple[int, int], bytes]:
    """Return the policy of each position in an epoch."""
    return {
        key: policy.numpy().tobytes()
        for batch in loader
        for key, policy in zip(keys(batch), batch["policy"], strict=True)
    }


def share_that_differs(first: dict[Any, bytes], second: dict[Any, bytes]) -> float:
    """Return the fraction of rows that differ."""
    assert first.keys() == second.keys()
    return float(np.mean([first[key] != second[key] for key in first]))


@pytest.mark.parametrize("workers", [0, 2])
def test_symmetries_change_with_each_epoch_and_repeat_with_the_seed(
    dataset: Dataset, workers: int
) -> None:
    torch = pytest.importorskip("torch")
    pickled = pickle.loads(pickle.dumps(dataset))  # as for a worker that does not fork

    def epochs(seed: int, count: int) -> list[dict[Any, bytes]]:
        torch.manual_seed(seed)
        loader = loader_of(pickled, workers, persistent_workers=workers > 0)
        return [epoch(loader) for _ in range(count)]

    first, second, third = epochs(seed=5, count=3)
    assert first.keys() == {(int(row["game"]), int(row["ply"])) for row in dataset}
    for one, other in ((first, second), (second, third), (first, third)):
        assert share_that_differs(one, other) > 0.5
    assert epochs(seed=5, count=2) == [first, second]


def test_a_worker_that_reads_single_rows_draws_new_symmetries(dataset: Dataset) -> None:
    loader = loader_of(dataset, 1, batch_size=None)

    def rows() -> dict[tuple[int, int], bytes]:
        return {(int(r["game"]), int(r["ply"])): bytes(np.asarray(r["policy"])) for r in loader}

    assert share_that_differs(rows(), rows()) > 0.5


def test_a_loader_does_not_affect_rows_outside_it(dataset: Dataset) -> None:
    before = [row["policy"].tobytes() for row in dataset]
    list(loader_of(dataset, 0))
    assert [row["policy"].tobytes() for row in dataset] == before


def test_a_loader_collates_a_batch_without_creating_each_row(
    plain: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    rows, made = [5, 3, 8, 0], Counter()  # type: ignore[var-annotated]

    class Counted(Row):
        def __init__(self, *fields: Any) -> None:
            super().__init__(*fields)
            made["rows"] += 1

    monkeypatch.setattr("pyengine.data.loader.Row", Counted)
    (batch,) = loader_of(torch.utils.data.Subset(plain, rows), 0, batch_size=4, shuffle=False)
    assert made["rows"] == 1  # PyTorch looks at the type of the first row
    one_by_one = torch.utils.data.default_collate([dict(plain[row]) for row in rows])
    assert batch.keys() == one_by_one.keys()
    for name, values in batch.items():
        assert values.dtype == one_by_one[name].dtype, name
        assert values.equal(one_by_one[name]) or name == "network_value"


def test_the_rows_of_a_batch_are_a_sequence_and_may_be_changed(dataset: Dataset) -> None:
    torch = pytest.importorskip("torch")
    rows = dataset.__getitems__([4, 2, 7])
    for weight, row in enumerate(rows):
        row["weight"] = float(weight)
    assert torch.utils.data.default_collate(rows)["weight"].tolist() == [0.0, 1.0, 2.0]
    assert (len(rows), rows[-1]["weight"], [row["weight"] for row in rows[1:]]) == (3, 2, [1, 2])
    with pytest.raises(IndexError):
        rows[3]
    single = torch.utils.data.default_collate([dataset[4], dataset[2]])  # as in a ConcatDataset
    assert single["ply"].tolist() == [row["ply"] for row in rows[:2]]


def test_without_pytorch_batches_have_the_same_rows_as_single_reads(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "torch.utils.data", raising=False)
    numbers = [5, 3, 8]
    for number, row in zip(numbers, dataset.__getitems__(numbers), strict=True):
        np.testing.assert_array_equal(row["policy"], dataset[number]["policy"])
