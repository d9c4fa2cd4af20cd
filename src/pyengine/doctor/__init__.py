"""What would be used here and why; the self-test of a machine, and that of its GPU."""

from pyengine.base.callable_room import make_callable
from pyengine.doctor.report import DoctorReport, doctor

__all__ = ["DoctorReport", "doctor"]

make_callable(__name__)
