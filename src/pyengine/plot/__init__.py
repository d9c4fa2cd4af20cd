"""Charts with matplotlib; requires the extra ``plot``."""

from pyengine.plot.charts import Chart, benchmarks, learning_curve, win_rate

__all__ = ["Chart", "benchmarks", "learning_curve", "win_rate"]
