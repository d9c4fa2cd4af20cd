/// A model fitted to a game: buffers bound once, batches run.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "eval/network.h"
#include "eval/ort_session.h"

namespace pyengine::ort {

/// An open model file, shared by the networks made of it.
struct LoadedModel {
  LoadedModel(const Library& library, std::filesystem::path path, OrtOptions options);
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;
  ~LoadedModel();

  /// A session of the caller's own for tiny models on the CPU, else the one session of all.
  OrtSession* acquire();
  /// Gives back what acquire() returned.
  void release(OrtSession* session);
  [[nodiscard]] bool forked() const noexcept { return forks() != forks_at_load; }
  [[nodiscard]] bool on_gpu() const noexcept { return provider != kCpu; }

  const Library& library;
  std::filesystem::path path;
  OrtOptions options;
  std::string provider;
  std::string reason;  ///< for the provider
  Handle<OrtSessionOptions> session_options;
  Handle<OrtSession> session;  ///< the first one
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;

 private:
  void open_on_best();
  void open(const std::vector<OrtProvider>& providers);

  int forks_at_load = forks();
  bool private_sessions_ = false;
  std::mutex mutex_;
  std::vector<Handle<OrtSession>> more_;  ///< guarded by mutex_; sessions beside the first
  std::vector<OrtSession*> idle_;         ///< guarded by mutex_; private ones that nobody holds
};

/// An output as a batch reads it.
struct OutputPlan {
  std::string name;
  ElementType type = ElementType::float32;
  std::vector<std::int64_t> shape;  ///< [0] is the number of rows of a call
  std::size_t row = 0;              ///< numbers of a row
};

/// How batches are cut into calls of the library.
struct CallPlan {
  int limit = 0;         ///< most rows of a call
  bool exactly = false;  ///< every call has `limit` rows: the model's batch is fixed
  bool buckets = false;  ///< few batch sizes are wanted: a GPU
  /// Rows that a call for `rows` rows computes.
  [[nodiscard]] int padded(int rows) const noexcept;
};

/// Fits the model to a game; throws ModelError.
std::shared_ptr<RawNetwork> fit_network(std::shared_ptr<LoadedModel> model, const ModelSpec& spec,
                                        const NetworkShape& shape);

}  // namespace pyengine::ort
