"""Making network files: from Leela Zero's text weights, from float32 to int8 and float16,
and copies whose value counts points.

Writing ONNX files needs the extra ``convert``; reading and writing weights files does not.
"""

from pyengine.conversion.comparison import Comparison, LimitCheck, Limits
from pyengine.conversion.float16 import Float16Report, to_float16
from pyengine.conversion.int8 import Int8Report, quantise
from pyengine.conversion.leela import LeelaWeights, Norm, read_leela, write_leela
from pyengine.conversion.leela_onnx import leela_spec, leela_to_onnx
from pyengine.conversion.random_weights import random_leela
from pyengine.conversion.score_utility import with_score_utility

__all__ = [
    "Comparison",
    "Float16Report",
    "Int8Report",
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
