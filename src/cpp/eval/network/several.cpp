#include "eval/network/several.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.h"

namespace pyengine {
namespace {

class SeveralNetworks final : public RawNetwork {
 public:
  explicit SeveralNetworks(std::vector<std::shared_ptr<RawNetwork>> networks)
      : networks_(std::move(networks)), in_service_(networks_.size()) {}

  [[nodiscard]] ElementType input_type() const noexcept override {
    return networks_.front()->input_type();
  }
  [[nodiscard]] RunsOn runs_on() const noexcept override {
    RunsOn all{EvalThread::device};
    for (const auto& network : networks_) all.device_batches += network->runs_on().device_batches;
    return all;
  }
  [[nodiscard]] std::unique_ptr<RawMemory> make_memory(int capacity) override {
    check_usable();
    auto memory = networks_.front()->make_memory(capacity);
    adopt(*memory);
    return memory;
  }
  void adopt(RawMemory& memory) override {
    for (const auto& network : networks_) network->adopt(memory);
  }
  int run(RawMemory& memory, int rows) override {
    const InService device(*this);
    return networks_[device.index]->run(memory, rows);
  }
  void check_usable() const override {
    for (const auto& network : networks_) network->check_usable();
  }

 private:
  /// A batch in service on the least busy device.
  struct InService {
    explicit InService(SeveralNetworks& all) : networks(all) {
      const std::lock_guard lock(networks.mutex_);
      auto& counts = networks.in_service_;
      const auto fewest = std::min_element(counts.begin(), counts.end());
      index = static_cast<std::size_t>(fewest - counts.begin());
      ++*fewest;
    }
    InService(const InService&) = delete;
    InService& operator=(const InService&) = delete;
    ~InService() {
      const std::lock_guard lock(networks.mutex_);
      --networks.in_service_[index];
    }

    SeveralNetworks& networks;
    std::size_t index = 0;
  };

  std::vector<std::shared_ptr<RawNetwork>> networks_;
  std::mutex mutex_;
  std::vector<int> in_service_;  ///< batches per device; guarded by mutex_
};

}  // namespace

SeveralDevices::SeveralDevices(std::vector<std::shared_ptr<NetworkSource>> devices)
    : devices_(std::move(devices)) {
  if (devices_.empty()) throw ConfigError("devices: expected at least one, got none");
  for (const auto& device : devices_) {
    if (device->device_batches() > 0) continue;
    throw ModelError("devices: expected a network on a GPU, got one on the CPU");
  }
}

int SeveralDevices::device_batches() const noexcept {
  return std::accumulate(devices_.begin(), devices_.end(), 0, [](int sum, const auto& device) {
    return sum + device->device_batches();
  });
}

std::string SeveralDevices::provider_text() const {
  std::vector<std::string> texts;
  for (const auto& device : devices_) {
    std::string text = device->provider_text();
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  return std::accumulate(
      texts.begin() + 1, texts.end(), texts.front(),
      [](const std::string& all, const std::string& text) { return all + ", " + text; });
}

std::shared_ptr<RawNetwork> SeveralDevices::fit(const ModelSpec& spec, const NetworkShape& shape) {
  std::vector<std::shared_ptr<RawNetwork>> networks;
  networks.reserve(devices_.size());
  for (const auto& device : devices_) networks.push_back(device->fit(spec, shape));
  for (const auto& network : networks) {
    if (network->input_type() == networks.front()->input_type()) continue;
    throw ModelError("devices: expected the same network on each, got another type of input");
  }
  return std::make_shared<SeveralNetworks>(std::move(networks));
}

}  // namespace pyengine
