"""The settings of a search, declared in src/cpp/search/config_fields.h."""

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
