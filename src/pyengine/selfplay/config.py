"""The settings of self-play; src/cpp/selfplay/config_fields.h declares them."""

from pyengine._core import SelfPlayConfig
from pyengine.base.arguments import check_type

__all__ = ["SelfPlayConfig", "as_config"]


def as_config(config: SelfPlayConfig | None) -> SelfPlayConfig:
    """Return settings as they are given, or the defaults. Raises ConfigError for another type."""
    if config is None:
        return SelfPlayConfig()
    check_type("config", config, SelfPlayConfig, "a SelfPlayConfig")
    return config
