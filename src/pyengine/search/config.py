"""The settings of a search; src/cpp/search/config_fields.h declares them."""

from typing import TYPE_CHECKING

from pyengine._core import SearchConfig

__all__ = ["SearchConfig", "SearchSettings"]

if TYPE_CHECKING:
    from pyengine._core import SearchSettings
else:
    from typing import TypedDict

    SearchSettings = TypedDict(
        "SearchSettings", {field.name: field.type for field in SearchConfig.fields()}, total=False
    )
