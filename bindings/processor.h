/// The processor requirements.
#pragma once

namespace pyengine::bindings {

/// Throws ImportError on processors older than x86-64-v2 (2009), on which NumPy would crash with an
/// illegal instruction. The engine itself runs on any x86-64 processor.
void check_processor();

}  // namespace pyengine::bindings
