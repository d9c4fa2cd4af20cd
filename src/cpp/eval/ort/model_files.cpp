#include "eval/ort/model_files.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <system_error>

namespace pyengine::ort {
namespace {

/// A 64-bit content hash; not secure against deliberate collisions.
class ContentHash {
 public:
  void add(const char* data, std::size_t bytes) noexcept {
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, data + at, std::min(bytes - at, sizeof word));
      hash_ = (std::rotl(hash_, 29) ^ word) * 0x9E3779B97F4A7C15U;
    }
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return hash_ ^ (hash_ >> 32U); }

 private:
  std::uint64_t hash_ = 0;
};

FileContent content_of(const std::filesystem::path& path) {
  constexpr std::size_t kPiece = std::size_t{1} << 16U;
  FileContent content;
  std::error_code error;
  content.written = std::filesystem::last_write_time(path, error);
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(kPiece);
  ContentHash hash;
  while (file.read(piece.data(), kPiece), file.gcount() > 0) {
    const auto bytes = static_cast<std::size_t>(file.gcount());
    hash.add(piece.data(), bytes);
    content.bytes += bytes;
  }
  content.hash = hash.value();
  return content;
}

}  // namespace

ModelFiles files_of(const std::filesystem::path& path, const OrtOptions& options) {
  ModelFiles files = {content_of(path)};
  for (const auto& weights : options.weights) files.push_back(content_of(weights));
  return files;
}

std::uint64_t total_bytes(const ModelFiles& files) {
  std::uint64_t total = 0;
  for (const FileContent& file : files) total += file.bytes;
  return total;
}

}  // namespace pyengine::ort
