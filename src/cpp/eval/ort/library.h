/// ONNX Runtime as a library loaded at run time: one copy, one environment a process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "eval/ort/api.h"

namespace pyengine::ort {

/// The library once loaded; never unloaded. Safe to use from any thread.
class Library {
 public:
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] const Api& api() const noexcept { return api_; }
  [[nodiscard]] const OrtEnv* env() const noexcept { return env_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& version() const noexcept { return version_; }
  [[nodiscard]] std::string build_info() const { return api_.GetBuildInfoString(); }
  /// What the library was built with, which is not what works here.
  [[nodiscard]] std::vector<std::string> available_providers() const;

 private:
  friend const Library& load(const std::filesystem::path& path);
  explicit Library(std::filesystem::path path);

  std::filesystem::path path_;
  std::string version_;
  Api api_;
  OrtEnv* env_ = nullptr;  ///< kept as long as the process
};

/// Loads the library at the first call and returns the same one later. Sets ORT_DISABLE_TELEMETRY=1
/// before, unless the variable is set: creating an environment otherwise starts an uploader. Throws
/// ModelError when the file cannot be loaded or is too old, or another one is loaded already.
const Library& load(const std::filesystem::path& path);
/// The loaded library, or null.
const Library* loaded() noexcept;

/// The library's message without the place in its sources and line ends.
std::string message_of(const Api& api, OrtStatus* status);

/// Throws Error with `doing` and the library's own message, unless `status` is null.
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

/// Takes over what `create(T**)` makes.
template <class Error, class T, class Create>
Handle<T> make(const Api& api, void(PYENGINE_ORT_CALL* release)(T*), std::string_view doing,
               Create&& create) {
  T* made = nullptr;
  check<Error>(api, create(&made), doing);
  return Handle<T>(made, Releaser<T>{release});
}

}  // namespace pyengine::ort
