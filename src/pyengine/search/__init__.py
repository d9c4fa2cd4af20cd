"""Tree search. The package is callable: see :func:`~pyengine.search.engine.search`."""

from pyengine.base.callable_room import make_callable
from pyengine.search.clock import Clock
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine, search
from pyengine.search.result import SearchResult
from pyengine.search.tree import SearchTree

__all__ = ["Clock", "Engine", "SearchConfig", "SearchResult", "SearchTree", "search"]

make_callable(__name__)
