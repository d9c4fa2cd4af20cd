/// Whether the files of a model are the ones they were.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "eval/ort/runtime.h"

namespace pyengine::ort {

/// What is in a file, and when it was written. A file may be written twice within one tick of the
/// file system's clock, or be given the time of another, so both are compared.
struct FileContent {
  std::filesystem::file_time_type written;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;
  friend bool operator==(const FileContent&, const FileContent&) = default;
};

/// Of the model first, and of its weights elsewhere.
using ModelFiles = std::vector<FileContent>;

/// Reads the files, at several gigabytes a second: far less time than a session of them takes to
/// open. One that cannot be read, which opening it will say, is as if it were empty.
[[nodiscard]] ModelFiles files_of(const std::filesystem::path& path, const OrtOptions& options);

[[nodiscard]] std::uint64_t total_bytes(const ModelFiles& files);

}  // namespace pyengine::ort
