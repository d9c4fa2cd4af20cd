"""The settings of a search; src/cpp/search/config_fields.h declares them."""

from pyengine._core import SearchConfig

__all__ = ["SearchConfig"]
