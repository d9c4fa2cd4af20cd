/// PYENGINE_VECTORISED before a function makes one copy of its loops for each width of vectors,
/// chosen when the library is loaded; a portable build would else use the narrowest. The copies
/// give the same bits: nothing is contracted or reordered.
#pragma once

// Sanitizers start before the choice could be made.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define PYENGINE_VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PYENGINE_VECTORISED
#endif
