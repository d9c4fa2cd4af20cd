/// Libraries that are loaded while the program runs, by the system's own calls.
#pragma once

#include <filesystem>

namespace pyengine::ort {

/// Throws ModelError with the system's words.
void* load_library(const std::filesystem::path& path);
/// One that the process has loaded already, by its file name; nullptr where it has not.
[[nodiscard]] void* loaded_library(const char* name) noexcept;
/// nullptr where the library does not export it.
[[nodiscard]] void* function_of(void* library, const char* name) noexcept;

}  // namespace pyengine::ort
