"""The loop of self-play, training and gate on several machines.

Needs the extra ``distributed`` (Ray), which is imported only where it is needed.
"""

from pyengine.distributed.run import train

__all__ = ["train"]
