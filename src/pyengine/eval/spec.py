"""The ModelSpec of a model file, and the shape of its planes."""

from __future__ import annotations

import warnings
from pathlib import Path

from pyengine import _core
from pyengine._core import ModelSpec as ModelSpec  # re-exported
from pyengine.base.files import read_limited, unread
from pyengine.errors import ConfigError, ModelError
from pyengine.games.game import Game

#: Metadata key of an ONNX file for its spec as JSON.
METADATA_KEY = "pyengine.spec"


def planes_shape(game: Game, spec: ModelSpec) -> tuple[int, int, int]:
    """Return C, H and W of the planes in either layout. Raises ModelError if they do not fit."""
    shape = _core.check_fit(spec, game)
    if spec.layout == "NHWC":
        height, width, channels = shape
    else:
        channels, height, width = shape
    return channels, height, width


def spec_of_model(model: _core.OnnxModel, path: Path, given: ModelSpec | None) -> ModelSpec:
    """Return ``given``, or else the spec in the metadata, in a file beside the model, or inferred.

    Warns about an inferred spec, because shapes do not prove the meaning of the planes.

    Raises:
        ModelError: a spec is invalid, or the shapes are ambiguous.

    """
    if given is not None:
        return given
    text = model.metadata(METADATA_KEY)
    if text is not None:
        return _read(text, f"the metadata '{METADATA_KEY}' of {path}")
    for beside in (path.with_suffix(".spec.json"), path.with_name(path.name + ".spec.json")):
        if beside.is_file():
            try:
                text = read_limited(beside).decode()
            except (OSError, UnicodeDecodeError) as error:
                raise ModelError(unread(beside, error)) from error
            return _read(text, str(beside))
    spec = model.infer_spec()
    warnings.warn(_assumption(path, spec), stacklevel=3)
    return spec


def _assumption(path: Path, spec: ModelSpec) -> str:
    """Return a warning with all fields of an inferred spec."""
    shown = spec.replace(value_kind=spec.value_kind or "tanh")
    values = [(field.name, getattr(shown, field.name)) for field in ModelSpec.fields()]
    text = ", ".join(f"{name}={value!r}" for name, value in values if value is not None)
    return (
        f"{path} has no spec; assumed ModelSpec({text}). To confirm or "
        "correct it, pass it as spec=, or write its to_json() to "
        f"{path.with_suffix('.spec.json').name} beside the file or to the metadata key "
        f"'{METADATA_KEY}'"
    )


def _read(text: str, source: str) -> ModelSpec:
    try:
        return ModelSpec.from_json(text)
    except ConfigError as error:
        raise ModelError(f"{source} is not a ModelSpec: {error}") from error
