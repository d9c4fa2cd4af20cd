#include "eval/modelled_device.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/error.h"
#include "base/rng.h"
#include "eval/ort/call_plan.h"

namespace pyengine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostStreams = 64;
constexpr std::size_t kHashedChannels = 2;  ///< by convention the stones of both players
constexpr std::size_t kTableOffsets = 4096;
constexpr std::size_t kHashLanes = 4;

// Spread out like the outputs of trained networks in games: for six networks the entropy of the
// priors was 0.26 to 0.85 of the maximum (here about 0.6), and the values of a position's children
// had a standard deviation of 0.10 to 0.27 (here 0.15).
constexpr double kLogitDeviation = 2.0;
constexpr double kMostValue = 0.26;

void check_seconds(const char* name, double seconds) {
  if (std::isfinite(seconds) && seconds >= 0.0 && seconds <= 60.0) return;
  throw ConfigError(std::string(name) + ": expected 0 .. 60 seconds, got " +
                    std::to_string(seconds));
}

void check_streams(int count) {
  if (count >= 0 && count <= kMostStreams) return;
  throw ConfigError("streams: expected 0 .. " + std::to_string(kMostStreams) + ", got " +
                    std::to_string(count));
}

/// Sleeps without the 50 us of timer slack that Linux adds by default.
void sleep_exactly_until(Clock::time_point moment) {
#ifdef __linux__
  thread_local const bool is_set = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) == 0;
  static_cast<void>(is_set);
#endif
  std::this_thread::sleep_until(moment);
}

/// A fast hash of floats: a real device would not use processor time.
std::uint64_t hash_of(const std::byte* bytes, std::size_t size) noexcept {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  std::array<std::uint64_t, kHashLanes> lanes = {1, 2, 3, 4};
  std::size_t at = 0;
  for (; at + sizeof lanes <= size; at += sizeof lanes) {
    std::array<std::uint64_t, kHashLanes> words;
    std::memcpy(words.data(), bytes + at, sizeof words);
    for (std::size_t i = 0; i < kHashLanes; ++i) lanes[i] = (lanes[i] ^ words[i]) * kFactor;
    // The high bits of a product are the well-mixed ones; move them down for the next product.
    for (std::uint64_t& lane : lanes) lane ^= lane >> 32U;
  }
  std::uint64_t hash = size;
  for (; at < size; ++at) hash = (hash ^ static_cast<std::uint64_t>(bytes[at])) * kFactor;
  for (const std::uint64_t lane : lanes) hash = ((hash ^ lane) * kFactor) ^ (hash >> 29U);
  return hash ^ (hash >> 32U);
}

/// Random numbers for rows of `row` that start at any of kTableOffsets offsets.
std::vector<float> table_of(int row, auto&& number) {
  std::vector<float> table(kTableOffsets + static_cast<std::size_t>(row));
  std::generate(table.begin(), table.end(), [&] { return static_cast<float>(number()); });
  return table;
}

std::vector<float> policy_table(const ModelSpec& spec, int row) {
  Rng rng(0, 0);
  return table_of(row, [&] {
    const double logit = kLogitDeviation * rng.normal();
    return spec.policy == "probs" ? std::exp(logit) : logit;
  });
}

std::vector<float> value_table(const ModelSpec& spec, int row) {
  Rng rng(0, 1);
  return table_of(row, [&] {
    const double value = kMostValue * (2.0 * rng.uniform() - 1.0);
    return spec.value_kind == "probs" ? 0.5 * (1.0 + value) : value;
  });
}

struct DeviceMemory final : FloatMemory {
  DeviceMemory(const NetworkShape& shape, int capacity)
      : FloatMemory(shape, capacity), calls{capacity, false, true} {}
  CallPlan calls;
};

}  // namespace

/// Tracks when each stream of the device becomes free.
class ModelledDevice::Streams {
 public:
  explicit Streams(const DeviceModel& parameters)
      : model(parameters), free_at_(static_cast<std::size_t>(parameters.streams)) {}

  [[nodiscard]] Clock::duration service_time(int rows) const noexcept {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(model.latency + model.per_row * rows));
  }

  /// Assigns a batch to the stream that becomes free first; returns when it will be done.
  Clock::time_point begin(int rows, int computed) {
    const Clock::duration time = service_time(computed);
    const std::lock_guard lock(mutex_);
    ++counters_.batches;
    counters_.rows += static_cast<std::uint64_t>(rows);
    counters_.padding += static_cast<std::uint64_t>(computed - rows);
    counters_.busy += std::chrono::duration<double>(time).count();
    if (free_at_.empty()) return Clock::now() + time;
    auto& stream = *std::min_element(free_at_.begin(), free_at_.end());
    stream = std::max(stream, Clock::now()) + time;
    return stream;
  }

  void finish(Clock::time_point end) {
    sleep_exactly_until(end);
    const double late = std::chrono::duration<double>(Clock::now() - end).count();
    const std::lock_guard lock(mutex_);
    counters_.late += late;
  }

  [[nodiscard]] DeviceCounters counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
  }

  const DeviceModel model;

 private:
  mutable std::mutex mutex_;
  std::vector<Clock::time_point> free_at_;
  DeviceCounters counters_;
};

/// Answers with rows of random tables, chosen by a hash of the first planes.
class ModelledDevice::Network final : public RawNetwork {
 public:
  Network(std::shared_ptr<Streams> streams, const ModelSpec& spec, const NetworkShape& shape)
      : streams_(std::move(streams)), shape_(shape) {
    if (streams_->model.uniform) return;
    policy_table_ = policy_table(spec, shape.policy);
    value_table_ = value_table(spec, shape.value);
  }

  [[nodiscard]] RunsOn runs_on() const noexcept override {
    return on_device(streams_->model.streams);
  }
  [[nodiscard]] std::unique_ptr<RawMemory> make_memory(int capacity) override {
    return std::make_unique<DeviceMemory>(shape_, capacity);
  }
  int run(RawMemory& memory, int rows) override {
    auto& batch = static_cast<DeviceMemory&>(memory);
    const int computed = streams_->model.buckets ? batch.calls.padded(rows) : rows;
    const Clock::time_point end = streams_->begin(rows, computed);
    if (!streams_->model.uniform) answer(batch, rows);
    streams_->finish(end);
    return computed;
  }

 private:
  void answer(DeviceMemory& batch, int rows) const noexcept {
    const std::size_t row_bytes = shape_.planes.elements() * sizeof(float);
    const std::size_t channel = static_cast<std::size_t>(shape_.planes.points()) * sizeof(float);
    const std::size_t hashed = std::min(row_bytes, kHashedChannels * channel);
    const auto policy = static_cast<std::size_t>(shape_.policy);
    const auto value = static_cast<std::size_t>(shape_.value);
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
      const std::uint64_t hash = hash_of(batch.planes + row * row_bytes, hashed);
      const float* priors = policy_table_.data() + hash % kTableOffsets;
      const float* values = value_table_.data() + hash / kTableOffsets % kTableOffsets;
      std::copy_n(priors, policy, batch.policies.begin() + static_cast<long>(row * policy));
      std::copy_n(values, value, batch.values.begin() + static_cast<long>(row * value));
    }
  }

  std::shared_ptr<Streams> streams_;
  const NetworkShape shape_;
  std::vector<float> policy_table_;  ///< a row starts at any of the first kTableOffsets numbers
  std::vector<float> value_table_;
};

ModelledDevice::ModelledDevice(const DeviceModel& model) {
  check_seconds("latency", model.latency);
  check_seconds("per_row", model.per_row);
  check_streams(model.streams);
  streams_ = std::make_shared<Streams>(model);
}

ModelledDevice::~ModelledDevice() = default;

int ModelledDevice::device_batches() const noexcept { return streams_->model.streams; }

std::shared_ptr<RawNetwork> ModelledDevice::fit(const ModelSpec& spec, const NetworkShape& shape) {
  return std::make_shared<Network>(streams_, spec, shape);
}

DeviceCounters ModelledDevice::counters() const { return streams_->counters(); }

}  // namespace pyengine
