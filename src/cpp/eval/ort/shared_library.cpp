#include "eval/ort/shared_library.h"

#include <string>
#include <system_error>

#include "base/error.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace pyengine::ort {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw ModelError("ONNX Runtime cannot be loaded from " + path.string() + ": " + why);
}

}  // namespace

#ifdef _WIN32
void* load_library(const std::filesystem::path& path) {
  HMODULE library = LoadLibraryExW(path.c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
  if (library == nullptr) {
    refuse(path, std::system_category().message(static_cast<int>(GetLastError())));
  }
  return library;
}

void* loaded_library(const char* name) noexcept { return GetModuleHandleA(name); }

void* function_of(void* library, const char* name) noexcept {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}
#else
void* load_library(const std::filesystem::path& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(path, dlerror());
  return library;
}

void* loaded_library(const char* name) noexcept { return dlopen(name, RTLD_NOW | RTLD_NOLOAD); }

void* function_of(void* library, const char* name) noexcept { return dlsym(library, name); }
#endif

}  // namespace pyengine::ort
