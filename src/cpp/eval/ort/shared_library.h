/// Shared libraries loaded at run time.
#pragma once

#include <filesystem>

namespace pyengine::ort {

/// Throws ModelError with the system's message.
void* load_library(const std::filesystem::path& path);
/// A library that the process has already loaded, by file name; nullptr if it has not.
[[nodiscard]] void* loaded_library(const char* name) noexcept;
/// Returns nullptr if the library does not export the name.
[[nodiscard]] void* function_of(void* library, const char* name) noexcept;

}  // namespace pyengine::ort
