"""Symmetries of a board: reflections, or a game's own permutations of points and actions."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.games.game import Game

#: The image of each point, or of each action, under each symmetry.
Images: TypeAlias = tuple[tuple[int, ...], ...]


def reflected(array: npt.NDArray[Any], k: int) -> npt.NDArray[Any]:
    """Return a view of ``array[..., H, W]`` with its points moved by reflection k.

    Bit 2 of k transposes, then bit 0 reverses the columns and bit 1 the rows.
    """
    if k & 4:
        array = array.swapaxes(-1, -2)
    if k & 1:
        array = array[..., ::-1]
    if k & 2:
        array = array[..., ::-1, :]
    return array


def permuted(array: npt.NDArray[Any], images: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return ``array[..., H, W]`` with its points moved to their images."""
    return array.reshape(*array.shape[:-2], -1)[..., np.argsort(images)].reshape(array.shape)


def reflected_actions(board: tuple[int, int], actions: int, k: int) -> npt.NDArray[np.intp]:
    """Return intp[A]: the action whose image under reflection k is each action.

    Actions are columns; or points followed by others, which stay.
    """
    rows, columns = board
    points, sources = rows * columns, np.arange(actions)
    if actions == columns and rows > 1:
        return reflected(sources[None, :], k).ravel()
    if actions < points:
        return sources  # without a board, the identity is the only symmetry
    moved = reflected(sources[:points].reshape(board), k)
    return np.concatenate([moved.ravel(), sources[points:]])


def own_images(game: Game) -> tuple[Images, Images]:
    """Return the images of points and actions; two empty tuples if symmetries are reflections."""
    actions, numbers = game.num_distinct_actions(), range(game.num_symmetries)
    if len(numbers) == 1:
        return (), ()
    point_images = tuple(tuple(map(int, game.symmetry_points(k))) for k in numbers)
    action_images = tuple(
        tuple(game.symmetry_action(k, action) for action in range(actions)) for k in numbers
    )
    board = np.arange(len(point_images[0])).reshape(game.board_shape)
    are_reflections = all(
        np.array_equal(permuted(board, point_images[k]), reflected(board, k))
        and np.array_equal(
            np.argsort(action_images[k]), reflected_actions(game.board_shape, actions, k)
        )
        for k in numbers
    )
    return ((), ()) if are_reflections else (point_images, action_images)
