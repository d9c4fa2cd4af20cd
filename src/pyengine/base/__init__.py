"""What every room uses: arguments, files, locks, interrupts, the machine."""
