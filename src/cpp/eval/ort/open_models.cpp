#include "eval/ort/open_models.h"

#include <mutex>
#include <utility>
#include <vector>

#include "base/process.h"
#include "eval/ort/model_files.h"

namespace pyengine::ort {
namespace {

struct ModelKey {
  std::filesystem::path path;
  OrtOptions options;
  ModelFiles files;
  friend bool operator==(const ModelKey&, const ModelKey&) = default;
};

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
  auto opened = std::make_shared<LoadedModel>(library, path, options, key.files);
  if (!opened->unchanged()) return opened;  // which of the contents, nobody knows
  return open.add(std::move(key), std::move(opened));
}

}  // namespace pyengine::ort
