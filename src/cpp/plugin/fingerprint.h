/// The properties that must match for objects of the engine to pass between two modules. Each
/// module compiles this text for itself. Python objects do not pass, so pybind11 plays no part.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "plugin/game_code.h"
#include "plugin/headers.h"
#include "search/run/worker.h"

namespace pyengine {

#if defined(__clang__)
#define PYENGINE_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define PYENGINE_COMPILER "gcc " __VERSION__
#elif defined(_MSC_VER)
#define PYENGINE_TEXT(x) #x
#define PYENGINE_TEXT_OF(x) PYENGINE_TEXT(x)
#define PYENGINE_COMPILER "msvc " PYENGINE_TEXT_OF(_MSC_FULL_VER)
#endif
inline constexpr const char* kBuiltWith =
    "pyengine " PYENGINE_HEADERS_VERSION ", " PYENGINE_COMPILER;

/// The standard library and the macros that change its types.
inline std::string library_abi() {
  std::string abi;
#if defined(_LIBCPP_ABI_VERSION)
  abi += "libc++ " + std::to_string(_LIBCPP_ABI_VERSION);
#elif defined(__GLIBCXX__)
  abi += "libstdc++ cxx11=" + std::to_string(_GLIBCXX_USE_CXX11_ABI);
#elif defined(_MSC_VER)
  abi += "msvc debug=" + std::to_string(_ITERATOR_DEBUG_LEVEL);
#endif
#if defined(_GLIBCXX_DEBUG)
  abi += " debug";
#endif
  return abi;
}

inline std::string sizes_of_types() {
  std::string sizes;
  for (const std::size_t size : {sizeof(void*),
                                 sizeof(std::string),
                                 sizeof(std::vector<int>),
                                 sizeof(std::shared_ptr<int>),
                                 sizeof(std::function<void()>),
                                 sizeof(ParamMap),
                                 sizeof(GameTraits),
                                 sizeof(State),
                                 sizeof(PlayoutSpace),
                                 sizeof(SearchConfig),
                                 sizeof(Node),
                                 sizeof(Tree),
                                 sizeof(Allocator),
                                 sizeof(RootSearch),
                                 sizeof(Selection),
                                 sizeof(Allotment),
                                 sizeof(Walk),
                                 sizeof(LeaseTerms),
                                 sizeof(alphabeta::Table),
                                 sizeof(alphabeta::Call),
                                 sizeof(SolveResult)}) {
    sizes += std::to_string(size);
    sizes += ' ';
  }
  return sizes;
}

/// One "NAME: VALUE" per line. `python_abi` is the suffix of the module's file name.
inline std::string fingerprint(const std::string& python_abi) {
  return "headers: " PYENGINE_HEADERS "\nC++ library: " + library_abi() +
      "\nsizes of types: " + sizes_of_types() + "\nPython: " + python_abi + "\n";
}

}  // namespace pyengine
