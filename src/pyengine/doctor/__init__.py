"""Reports on this installation, and self-tests of the machine and its GPU."""

from pyengine.base.callable_room import make_callable
from pyengine.doctor.report import DoctorReport, doctor

__all__ = ["DoctorReport", "doctor"]

make_callable(__name__)
