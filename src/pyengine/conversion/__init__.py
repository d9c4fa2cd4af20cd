"""Conversion of networks: Leela Zero weights to ONNX, float32 to int8 and float16, score utility.

Writing ONNX files needs the extra ``convert``; reading and writing Leela Zero weights does not.
"""

from pyengine.conversion.checked import ConversionReport
from pyengine.conversion.comparison import Comparison, LimitCheck, Limits
from pyengine.conversion.float16 import to_float16
from pyengine.conversion.int8 import quantise
from pyengine.conversion.leela import (
    LeelaWeights,
    Norm,
    leela_spec,
    leela_to_onnx,
    random_leela,
    read_leela,
    write_leela,
)
from pyengine.conversion.score_utility import with_score_utility

__all__ = [
    "Comparison",
    "ConversionReport",
    "LeelaWeights",
    "LimitCheck",
    "Limits",
    "Norm",
    "leela_spec",
    "leela_to_onnx",
    "quantise",
    "random_leela",
    "read_leela",
    "to_float16",
    "with_score_utility",
    "write_leela",
]
