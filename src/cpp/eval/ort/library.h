/// ONNX Runtime, loaded at run time: one copy and one environment per process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "eval/ort/api.h"

namespace pyengine::ort {

/// The loaded library; never unloaded. Safe to use from any thread.
class Library {
 public:
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] const Api& api() const noexcept { return api_; }
  [[nodiscard]] const OrtEnv* env() const noexcept { return env_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& version() const noexcept { return version_; }
  [[nodiscard]] std::string build_info() const { return api_.GetBuildInfoString(); }
  /// The providers that the library was built with; they need not work on this machine.
  [[nodiscard]] std::vector<std::string> available_providers() const;

 private:
  friend const Library& load(const std::filesystem::path& path);
  explicit Library(std::filesystem::path path);

  std::filesystem::path path_;
  std::string version_;
  Api api_;
  OrtEnv* env_ = nullptr;  ///< lives as long as the process
};

/// Loads the library at the first call and returns the same one later. Sets ORT_DISABLE_TELEMETRY=1
/// unless the variable is set, because creating an environment would otherwise start an uploader.
/// Throws ModelError if the file cannot be loaded or is too old, or if another one is already
/// loaded.
const Library& load(const std::filesystem::path& path);
/// The loaded library, or nullptr.
const Library* loaded() noexcept;

/// The library's message without source location and line breaks.
std::string message_of(const Api& api, OrtStatus* status);

/// Throws Error with `doing` and the library's message unless `status` is nullptr.
template <class Error>
void check(const Api& api, OrtStatus* status, std::string_view doing) {
  if (status == nullptr) return;
  const std::string message = message_of(api, status);
  api.ReleaseStatus(status);
  throw Error(std::string(doing) + ": " + message);
}

/// An object of the library with its Release function.
template <class T>
struct Releaser {
  void(PYENGINE_ORT_CALL* release)(T*) = nullptr;
  void operator()(T* object) const noexcept { release(object); }
};
template <class T>
using Handle = std::unique_ptr<T, Releaser<T>>;

/// Takes ownership of the object created by `create(T**)`.
template <class Error, class T, class Create>
Handle<T> make(const Api& api, void(PYENGINE_ORT_CALL* release)(T*), std::string_view doing,
               Create&& create) {
  T* object = nullptr;
  check<Error>(api, create(&object), doing);
  return Handle<T>(object, Releaser<T>{release});
}

}  // namespace pyengine::ort
