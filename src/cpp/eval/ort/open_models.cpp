#include "eval/ort/open_models.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "base/process.h"

namespace pyengine::ort {
namespace {

/// What is in a file, and when it was written. A file may be written twice within one tick of the
/// file system's clock, so both are compared.
struct FileContent {
  std::filesystem::file_time_type written;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;
  friend bool operator==(const FileContent&, const FileContent&) = default;
};

/// Several gigabytes a second. Not against deliberate collisions, which are no concern here.
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

/// Of a file that cannot be read, which opening it will say: nothing.
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

struct ModelKey {
  std::filesystem::path path;
  OrtOptions options;
  std::vector<FileContent> files;  ///< of the model, and of its weights elsewhere
  friend bool operator==(const ModelKey&, const ModelKey&) = default;
};

std::vector<FileContent> files_of(const std::filesystem::path& path, const OrtOptions& options) {
  std::vector<FileContent> files = {content_of(path)};
  for (const auto& weights : options.weights) files.push_back(content_of(weights));
  return files;
}

class OpenModels {
 public:
  [[nodiscard]] std::shared_ptr<LoadedModel> find(const ModelKey& key) {
    const std::lock_guard lock(mutex_);
    return known(key);
  }
  /// Another thread may have opened the same meanwhile: then it is that one.
  [[nodiscard]] std::shared_ptr<LoadedModel> add(ModelKey key, std::shared_ptr<LoadedModel> model) {
    const std::lock_guard lock(mutex_);
    if (auto found = known(key)) return found;
    models_.emplace_back(std::move(key), model);
    return model;
  }

 private:
  [[nodiscard]] std::shared_ptr<LoadedModel> known(const ModelKey& key) {
    std::erase_if(models_, [](const auto& entry) { return entry.second.expired(); });
    for (const auto& [other, model] : models_) {
      if (other != key) continue;
      if (auto found = model.lock()) return found;
    }
    return nullptr;
  }

  std::mutex mutex_;
  std::vector<std::pair<ModelKey, std::weak_ptr<LoadedModel>>> models_;
};

}  // namespace

std::shared_ptr<LoadedModel> open_shared(const Library& library, const std::filesystem::path& path,
                                         const OrtOptions& options) {
  static auto& of_process = *new OfProcess<OpenModels>;  // models may outlive static objects
  OpenModels& open = of_process.get();
  ModelKey key{std::filesystem::absolute(path), options, files_of(path, options)};
  if (auto found = open.find(key)) return found;
  auto opened = std::make_shared<LoadedModel>(library, path, options);
  if (files_of(path, options) != key.files) return opened;  // which of the contents, nobody knows
  return open.add(std::move(key), std::move(opened));
}

}  // namespace pyengine::ort
