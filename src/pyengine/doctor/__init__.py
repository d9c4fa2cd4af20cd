"""What would be used here and why; the self-test of a machine, and that of its GPU."""

from pyengine.doctor.report import DoctorReport, doctor

__all__ = ["DoctorReport", "doctor"]
