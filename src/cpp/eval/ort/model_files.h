/// Detects changes of a model's files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "eval/ort/runtime.h"

namespace pyengine::ort {

/// Content hash and modification time of a file. A file may be written twice within one tick of the
/// file system's clock, or be given another file's time, so both are compared.
struct FileContent {
  std::filesystem::file_time_type written;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;
  friend bool operator==(const FileContent&, const FileContent&) = default;
};

/// The model's file first, then its external weights.
using ModelFiles = std::vector<FileContent>;

/// Reads the files at several gigabytes per second, far faster than a session opens. An unreadable
/// file counts as empty; opening it will report the error.
[[nodiscard]] ModelFiles files_of(const std::filesystem::path& path, const OrtOptions& options);

[[nodiscard]] std::uint64_t total_bytes(const ModelFiles& files);

}  // namespace pyengine::ort
