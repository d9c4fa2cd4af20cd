"""Placeholder; branch `players` has the real one."""


class Clock:
    def budget(self, state: object) -> float:
        return 1.0

    def spend(self, seconds: float) -> bool:
        return True
