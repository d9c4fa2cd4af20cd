/// PYENGINE_VECTORISED compiles a function for several vector widths and selects one when the
/// library is loaded; a portable build would otherwise use the narrowest. All copies give identical
/// bits: nothing is contracted or reordered.
#pragma once

// Sanitizers run code before the selection is possible.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define PYENGINE_VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PYENGINE_VECTORISED
#endif
