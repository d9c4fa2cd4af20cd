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
  /// If another thread has opened the same model meanwhile, returns that one.
  [[nodiscard]] std::shared_ptr<LoadedModel> add(ModelKey key, std::shared_ptr<LoadedModel> model) {
    const std::lock_guard lock(mutex_);
    if (auto existing = known(key)) return existing;
    models_.emplace_back(std::move(key), model);
    return model;
  }

 private:
  [[nodiscard]] std::shared_ptr<LoadedModel> known(const ModelKey& key) {
    std::erase_if(models_, [](const auto& entry) { return entry.second.expired(); });
    for (const auto& [other, model] : models_) {
      if (other != key) continue;
      if (auto existing = model.lock()) return existing;
    }
    return nullptr;
  }

  std::mutex mutex_;
  std::vector<std::pair<ModelKey, std::weak_ptr<LoadedModel>>> models_;
};

}  // namespace

std::shared_ptr<LoadedModel> open_shared(const Library& library, const std::filesystem::path& path,
                                         const OrtOptions& options) {
  // Never deleted: models may outlive static objects.
  static auto& of_process = *new OfProcess<OpenModels>;
  OpenModels& open = of_process.get();
  ModelKey key{std::filesystem::absolute(path), options, files_of(path, options)};
  if (auto existing = open.find(key)) return existing;
  auto opened = std::make_shared<LoadedModel>(library, path, options, key.files);
  if (!opened->unchanged()) return opened;  // it is unclear which content was opened
  return open.add(std::move(key), std::move(opened));
}

}  // namespace pyengine::ort
