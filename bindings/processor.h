/// What the processor must have.
#pragma once

namespace pyengine::bindings {

/// Throws ImportError on an x86-64 processor older than x86-64-v2 (2009), where NumPy would end the
/// program with an illegal instruction. The engine itself needs no more than any x86-64 has.
void check_processor();

}  // namespace pyengine::bindings
