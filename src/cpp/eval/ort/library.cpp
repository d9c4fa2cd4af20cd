#include "eval/ort/library.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "eval/ort/shared_library.h"

namespace pyengine::ort {
namespace {

std::atomic<const Library*> g_library{nullptr};

#ifdef _WIN32
void disable_telemetry() {
  if (std::getenv("ORT_DISABLE_TELEMETRY") == nullptr) _putenv_s("ORT_DISABLE_TELEMETRY", "1");
}
#else
void disable_telemetry() { setenv("ORT_DISABLE_TELEMETRY", "1", /*overwrite=*/0); }
#endif

/// Reads a function pointer from the table.
template <class Function>
void take(const void* table, std::size_t slot, Function& function) {
  std::memcpy(&function, static_cast<const char*>(table) + slot * sizeof(void*), sizeof function);
}

}  // namespace

Library::Library(std::filesystem::path path) : path_(std::move(path)) {
  disable_telemetry();
  void* entry = function_of(load_library(path_), "OrtGetApiBase");
  if (entry == nullptr) {
    throw ModelError(path_.string() + " is not ONNX Runtime: it does not export OrtGetApiBase");
  }
  const ApiBase*(PYENGINE_ORT_CALL * get_base)() = nullptr;
  std::memcpy(&get_base, &entry, sizeof get_base);  // NOLINT(bugprone-bitwise-pointer-cast)
  const ApiBase* base = get_base();
  version_ = base->get_version_string();
  const void* table = base->get_api(kApiVersion);
  if (table == nullptr) {
    throw ModelError("expected ONNX Runtime 1.24.1 or later, got " + version_ + " in " +
                     path_.string());
  }
#define PYENGINE_ORT_TAKE(name, slot, result, arguments) take(table, slot, api_.name);
  PYENGINE_ORT_CALLS(PYENGINE_ORT_TAKE)
#undef PYENGINE_ORT_TAKE
  check<ModelError>(api_, api_.CreateEnv(kLogFatal, "pyengine", &env_),
                    "ONNX Runtime's environment cannot be created");
}

std::vector<std::string> Library::available_providers() const {
  char** names = nullptr;
  int count = 0;
  check<ModelError>(api_, api_.GetAvailableProviders(&names, &count),
                    "ONNX Runtime cannot list its providers");
  std::vector<std::string> providers(names, names + count);
  check<ModelError>(api_, api_.ReleaseAvailableProviders(names, count),
                    "ONNX Runtime cannot release its list of providers");
  return providers;
}

const Library& load(const std::filesystem::path& path) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const Library* library = g_library.load(std::memory_order_acquire)) {
    if (library->path() == path) return *library;
    throw ModelError("ONNX Runtime is loaded from " + library->path().string() +
                     "; a process cannot also load " + path.string());
  }
  const Library* library = new Library(path);  // never deleted: sessions may outlive static objects
  g_library.store(library, std::memory_order_release);
  return *library;
}

std::string message_of(const Api& api, OrtStatus* status) {
  std::string message = api.GetErrorMessage(status);
  const std::size_t mark = message.rfind("[ONNXRuntimeError] : ");
  if (mark != std::string::npos) message.erase(0, mark);
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  return message;
}

const Library* loaded() noexcept { return g_library.load(std::memory_order_acquire); }

}  // namespace pyengine::ort
