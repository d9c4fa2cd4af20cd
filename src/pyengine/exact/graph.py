"""Graphs in compressed sparse row (CSR) form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pyengine import _core
from pyengine.base.checks import integer, short_repr
from pyengine.errors import ConfigError
from pyengine.exact.problem_inputs import estimates, is_integer, is_zero, list_goals


class Graph:
    """A directed graph with edge costs in CSR form; nodes are 0, 1, ....

    Create one with :meth:`from_csr` or :meth:`from_scipy`. Contiguous arrays of the dtypes named
    there are not copied and must not change while the graph is used.
    """

    def __init__(
        self,
        arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
        h: NDArray[np.float64] | None,
    ) -> None:
        self._arrays = arrays
        self._h = h
        self._nodes, self._edges = len(arrays[0]) - 1, len(arrays[1])
        self._graph = _core.PathGraph(*arrays)

    def __repr__(self) -> str:
        return f"Graph({self._nodes:,} nodes, {self._edges:,} edges)"

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph, (self._arrays, self._h)

    @classmethod
    def from_csr(
        cls, indptr: ArrayLike, indices: ArrayLike, weights: ArrayLike, h: ArrayLike | None = None
    ) -> Graph:
        """Return the graph whose node ``u`` has edges ``indptr[u]`` to ``indptr[u + 1] - 1``.

        Args:
            indptr: ``[nodes + 1]``, non-decreasing, starting at 0.
            indices: ``[edges]``: target nodes. Both arrays ``int32`` or both ``int64``; other
                integer types are copied to ``int64``.
            weights: ``float32`` or ``float64`` ``[edges]``: costs, finite and at least 0; integers
                and bools are copied to ``float64``.
            h: ``float64[nodes]``: estimated costs to the nearest goal, at least 0; infinity if no
                goal can be reached. None: 0 everywhere.

        Raises:
            ConfigError: an invalid array; the message names its first invalid entry.

        Example:
            >>> import numpy as np, pyengine
            >>> indptr, indices = np.array([0, 2, 3, 3]), np.array([1, 2, 2])
            >>> graph = pyengine.Graph.from_csr(indptr, indices, np.array([1.0, 5.0, 2.0]))
            >>> pyengine.astar(graph, 0, 2).path
            [0, 1, 2]
        """
        rows = _vector("indptr", indptr, "iu", "integers")
        columns = _vector("indices", _typed(indices, rows.dtype), "iu", "integers")
        costs = _vector("weights", _typed(weights, np.float64), "fiub", "numbers")
        if len(rows) == 0:
            raise ConfigError("indptr: expected one entry more than nodes, got none")
        if rows.dtype != columns.dtype or rows.dtype not in (np.int32, np.int64):
            rows, columns = rows.astype(np.int64), columns.astype(np.int64)
        if costs.dtype not in (np.float32, np.float64):
            costs = costs.astype(np.float64)
        return cls((rows, columns, costs), None if h is None else estimates(h, (len(rows) - 1,)))

    @classmethod
    def from_scipy(cls, matrix: Any, h: ArrayLike | None = None) -> Graph:
        """Return the graph of a SciPy matrix or array: an entry is the cost from row to column.

        A CSR matrix is not copied; SciPy converts other formats, and adds duplicate entries of a
        COO matrix. A stored 0 is an edge.

        Raises:
            ConfigError: not a square SciPy matrix; see also :meth:`from_csr`.

        Example:
            >>> import pyengine
            >>> from scipy.sparse import csr_array  # doctest: +SKIP
            >>> pyengine.Graph.from_scipy(csr_array([[0.0, 2.0], [0.0, 0.0]]))  # doctest: +SKIP
        """
        if not hasattr(matrix, "tocsr") or not hasattr(matrix, "shape"):
            raise ConfigError(f"matrix: expected a SciPy sparse matrix, got {short_repr(matrix)}")
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ConfigError(f"matrix: expected a square matrix, got shape {matrix.shape}")
        if matrix.dtype.kind in "biu":  # SciPy would add duplicate entries in this type
            matrix = matrix.astype(np.float64)
        matrix = matrix.tocsr()
        return cls.from_csr(matrix.indptr, matrix.indices, matrix.data, h)

    def _search(self, call: _core.PathCall, start: Any, goals: Any, h: Any) -> dict[str, Any]:
        last = self._nodes - 1
        start = integer("start", start, 0, last)
        targets = [integer("goals", goal, 0, last) for goal in list_goals(goals, is_integer)]
        h = self._h if h is None else self._estimates(h)
        answer = self._graph.search(call, start, np.array(targets, np.int64), h)
        return {**answer, "path": answer["path"].tolist()}

    def _estimates(self, h: Any) -> NDArray[np.float64] | None:
        return None if is_zero(h) else estimates(h, (self._nodes,))


def _typed(values: Any, dtype: DTypeLike) -> Any:
    """Give an empty list a dtype; return other values unchanged."""
    return np.empty(0, dtype) if isinstance(values, (list, tuple)) and not values else values


def _vector(name: str, values: Any, kinds: str, expected: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise ConfigError(
            f"{name}: expected one-dimensional {expected}, got {array.dtype} of shape {array.shape}"
        )
    return np.require(array, array.dtype.newbyteorder("="), ["C", "A"])
