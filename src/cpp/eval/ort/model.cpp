#include "eval/ort/model.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/janitor.h"
#include "base/process.h"

namespace pyengine::ort {
namespace {

/// Sizes of batches, beside powers of two, that have sessions of their own on a device: each holds
/// the network's weights.
constexpr std::size_t kMostOddSizes = 8;

/// Of the CUDA provider.
constexpr const char* kGraphOption = "enable_cuda_graph";

bool asks_for_graphs(const OrtProvider& provider) { return is_on(provider.options, kGraphOption); }

int device_of(const OrtProvider& provider, const OrtOptions& options) {
  const auto named = provider.options.find("device_id");
  return named == provider.options.end() ? options.device_id : std::stoi(named->second);
}

std::unique_ptr<DeviceCopies> copies_of(const OrtProvider& provider, const OrtOptions& options) {
  if (!options.graphs.empty()) return processor_copies(options.graphs);
  return cuda_copies(device_of(provider, options));
}

/// Why captures failed, by device, in this process: each leaves a session open, so that none is
/// tried again.
class FailedCaptures {
 public:
  void add(int device, const std::string& why) {
    const std::lock_guard lock(mutex_);
    reasons_.emplace(device, why);
  }
  [[nodiscard]] std::optional<std::string> on(int device) const {
    const std::lock_guard lock(mutex_);
    const auto found = reasons_.find(device);
    if (found == reasons_.end()) return std::nullopt;
    return "a capture failed on this device before: " + found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<int, std::string> reasons_;
};

FailedCaptures& failed_captures() {
  static FailedCaptures of_process;
  return of_process;
}

/// Of a few runs; one is enough where it takes long.
double least_seconds(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  constexpr int kMostRuns = 5;
  constexpr Seconds kLongest{0.02};
  Seconds least = Seconds::max();
  const auto begun = Clock::now();
  for (int i = 0; i < kMostRuns && Clock::now() - begun < kLongest; ++i) {
    const auto start = Clock::now();
    run();
    least = std::min(least, Seconds(Clock::now() - start));
  }
  return least.count();
}

/// Whether inputs differ in their number of rows alone.
bool same_row(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& other) {
  return std::equal(shape.begin() + 1, shape.end(), other.begin() + 1, other.end());
}

}  // namespace

std::vector<std::int64_t> with_rows(std::vector<std::int64_t> shape, int rows) {
  shape[0] = rows;
  return shape;
}

FairSharedMutex& device_lock() {
  static auto& of_process = *new OfProcess<FairSharedMutex>;
  return of_process.get();
}

void close_on_device(std::vector<Handle<OrtSession>> sessions, std::unique_ptr<Graphs> graphs) {
  struct Given {
    std::vector<Handle<OrtSession>> sessions;
    std::unique_ptr<Graphs> graphs;
    void close() {
      graphs.reset();
      sessions.clear();
    }
  };
  const auto given = std::make_shared<Given>(std::move(sessions), std::move(graphs));
  if (std::unique_lock alone(device_lock(), std::try_to_lock); alone) {
    given->close();
    return;
  }
  run_in_background(
      [given] {
        const std::lock_guard alone(device_lock());
        given->close();
      },
      Background::devices);
}

LoadedModel::LoadedModel(const Library& used, std::filesystem::path file, OrtOptions wanted,
                         ModelFiles before)
    : library(used), path(std::move(file)), options(std::move(wanted)), files(std::move(before)) {
  if (options.providers.empty()) {
    open_on_best();
  } else {
    open(options.providers);
    reason = "named";
  }
  inputs = session_inputs(library.api(), session.get());
  outputs = session_outputs(library.api(), session.get());
  // A second session of a tiny model costs little memory and no thread then waits for another.
  constexpr std::uintmax_t kTiny = 2U << 20U;
  private_sessions_ = !on_device() && options.threads <= 1 && total_bytes(files) < kTiny;
  idle_.push_back(session.get());
}

LoadedModel::~LoadedModel() {
  if (forked()) {
    static_cast<void>(session.release());  // its threads are the parent's
    for (auto& other : more_) static_cast<void>(other.release());
    static_cast<void>(session_options.release());
    static_cast<void>(graphs.release());
    return;
  }
  if (!on_device()) return;
  if (keeps_first_) static_cast<void>(session.release());
  more_.push_back(std::move(session));
  close_on_device(std::move(more_), std::move(graphs));
}

/// TensorRT builds no engine here where the input's shape is free: that takes the game and the
/// batch. Where it is fixed, this session is the only one.
void LoadedModel::open(std::vector<OrtProvider> providers) {
  provider = full_name(library, providers.front().name);
  providers_ = std::move(providers);
  bool foreign =
      provider != kCuda && std::any_of(providers_.begin(), providers_.end(), asks_for_graphs);
  for (OrtProvider& given : providers_) {
    foreign = drop_tensorrt_graphs(given.options) || foreign;
  }
  std::unique_lock alone(device_lock(), std::defer_lock);
  if (on_device()) alone.lock();
  session_options = make_options(library, providers_, options);  // whether they can be had
  if (foreign) without_graphs("only CUDA's are made, where it is the first provider");
  session = provider == kTensorRt ? open_with_engine(std::nullopt) : open_first();
}

bool LoadedModel::wants_graphs() const {
  return !options.graphs.empty() || (provider == kCuda && asks_for_graphs(providers_.front()));
}

/// With graphs where they are asked for and ONNX Runtime does not refuse the network.
Handle<OrtSession> LoadedModel::open_first() {
  if (!wants_graphs()) return make_session(library, path, session_options.get());
  try {
    if (options.graphs == "refused") throw ModelError("this network has no graph");
    if (const auto why = failed_captures().on(graph_device())) throw ModelError(*why);
    Handle<OrtSession> opened = make_session(library, path, session_options.get());
    graphs = std::make_unique<Graphs>(library.api(), copies_of(providers_.front(), options));
    graphs->add(opened.get());
    return opened;
  } catch (const ModelError& error) {
    without_graphs(error.what());
  }
  return make_session(library, path, session_options.get());
}

/// Sessions that are opened from now on have none. Alone on the device.
void LoadedModel::without_graphs(const std::string& why) {
  for (OrtProvider& given : providers_) given.options.erase(kGraphOption);
  session_options = make_options(library, providers_, options);
  const std::lock_guard lock(mutex_);
  no_graphs_ = why;
}

int LoadedModel::graph_device() const { return device_of(providers_.front(), options); }

/// Another model's capture may have failed since this one was opened.
void LoadedModel::heed_failed_captures() {
  if (!has_graphs()) return;
  const auto why = failed_captures().on(graph_device());
  if (!why) return;
  without_graphs(*why);
  static_cast<void>(take_idle());  // its calls would capture
}

bool LoadedModel::has_graphs() const {
  const std::lock_guard lock(mutex_);
  return graphs != nullptr && no_graphs_.empty();
}

std::string LoadedModel::provider_text() const {
  const std::lock_guard lock(mutex_);
  if (const int captured = graphs == nullptr ? 0 : graphs->num_captured();
      captured > 0 && !no_graphs_.empty()) {
    return provider + " with CUDA graphs for " + std::to_string(captured) +
        (captured == 1 ? " size" : " sizes") + " of batches, without CUDA graphs (" + no_graphs_ +
        ") for others";
  }
  if (!no_graphs_.empty()) return provider + " without CUDA graphs (" + no_graphs_ + ")";
  return graphs != nullptr ? provider + " with CUDA graphs" : provider;
}

void LoadedModel::run_plainly(OrtSession* used, const PlainCall& call) const {
  if (graphs != nullptr && graphs->has(used)) return graphs->run_plainly(call);
  call(nullptr);
}

void LoadedModel::open_on_best() {
  try {
    open({{kCuda, {}}});
    reason = "the GPU works";
    return;
  } catch (const ModelError& error) {
    reason = error.what();
  }
  open({{kCpu, {}}});
}

OrtSession* LoadedModel::acquire() {
  if (!private_sessions_) return session.get();
  if (OrtSession* idle = take_idle()) return idle;
  Handle<OrtSession> made = open_another();
  if (made == nullptr) return session.get();
  const std::lock_guard lock(mutex_);
  more_.push_back(std::move(made));
  idle_.reserve(more_.size() + 1);
  return more_.back().get();
}

/// Null where the file is not what it was, before or after: which of the two was opened, nobody
/// knows. From then on all calls share the sessions that there are.
Handle<OrtSession> LoadedModel::open_another() {
  if (changed_) return {};
  Handle<OrtSession> made;
  if (unchanged()) made = make_session(library, path, session_options.get());
  if (made != nullptr && unchanged()) return made;
  changed_ = true;
  return {};
}

void LoadedModel::release(OrtSession* given) noexcept {
  if (private_sessions_ && !forked()) give_idle(given);
}

OrtSession* LoadedModel::take_idle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  OrtSession* taken = idle_.back();
  idle_.pop_back();
  return taken;
}

/// The first one may have been given to several.
void LoadedModel::give_idle(OrtSession* given) noexcept {
  const std::lock_guard lock(mutex_);
  if (std::find(idle_.begin(), idle_.end(), given) == idle_.end()) idle_.push_back(given);
}

void LoadedModel::check_unchanged() const {
  if (unchanged()) return;
  throw EvaluationError("the model " + path.string() +
                        " has changed since it was opened: expected the same file for further "
                        "sessions; open it again");
}

int LoadedModel::num_sessions() const {
  const std::lock_guard lock(mutex_);
  return 1 + static_cast<int>(more_.size());
}

int LoadedModel::rows_of_largest_call(int capacity) {
  const int most = options.max_batch > 0 ? options.max_batch : std::numeric_limits<int>::max();
  if (capacity >= most) return most;
  if (one_session() || std::has_single_bit(static_cast<unsigned>(capacity))) return capacity;
  const std::lock_guard lock(mutex_);
  if (odd_sizes_.size() < kMostOddSizes) odd_sizes_.insert(capacity);
  if (odd_sizes_.contains(capacity)) return capacity;
  return std::min(most, static_cast<int>(std::bit_ceil(static_cast<unsigned>(capacity))));
}

bool LoadedModel::serves(const Prepared& session, const DeviceCall& call) const {
  if (!same_row(session.shape, call.shape)) return false;
  if (!one_session()) return session.shape[0] == call.rows;
  return profile_can_name(call.input) ? session.shape[0] >= call.limit
                                      : session.shape[0] == call.limit;
}

OrtSession* LoadedModel::known(const DeviceCall& call) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(prepared_.begin(), prepared_.end(),
                                  [&](const Prepared& prepared) { return serves(prepared, call); });
  return found == prepared_.end() ? nullptr : found->session;
}

/// Whether batches may run on the first session: one that serves all sizes is opened for them,
/// unless the model has but one.
bool LoadedModel::first_may_serve() const {
  const auto fixed = [](const TensorInfo& input) {
    return std::all_of(input.shape.begin(), input.shape.end(), [](auto size) { return size > 0; });
  };
  return !one_session() || std::all_of(inputs.begin(), inputs.end(), fixed);
}

/// Looks again afterwards: the file may have been replaced meanwhile.
Handle<OrtSession> LoadedModel::open_for(const DeviceCall& call) const {
  check_unchanged();
  Handle<OrtSession> opened = open_unchecked(call);
  check_unchanged();
  return opened;
}

Handle<OrtSession> LoadedModel::open_unchecked(const DeviceCall& call) const {
  if (provider != kTensorRt) return make_session(library, path, session_options.get());
  return open_with_engine(engine_profile(call.input, call.shape, call.limit, options.max_batch));
}

/// With the engine for a profile, read from the cache or built, which takes minutes.
Handle<OrtSession> LoadedModel::open_with_engine(
    const std::optional<EngineProfile>& profile) const {
  std::vector<OrtProvider> providers = providers_;
  for (OrtProvider& given : providers) {
    if (full_name(library, given.name) != kTensorRt) continue;
    const ProviderOptions cached = tensorrt_options(given.options, profile, options.engine_cache);
    given.options =
        make_cache_folders(cached) ? cached : tensorrt_options(given.options, profile, {});
  }
  const auto open_once = [&] {
    const auto with = make_options(library, providers, options);
    return make_session(library, path, with.get());
  };
  try {
    return open_once();
  } catch (const ModelError& error) {
    const bool unreadable = std::string(error.what()).find("cache") != std::string::npos;
    if (!unreadable || !forget_engines(options.engine_cache)) throw;
  }
  return open_once();
}

LoadedModel::Candidate::Candidate(LoadedModel& model, const DeviceCall& call,
                                  const FirstRun& first_run)
    : model_(model) {
  model.heed_failed_captures();
  if (model.first_may_serve()) session_ = model.take_idle();
  if (session_ == nullptr) open(call);
  try {
    first_run(session_);
  } catch (const CaptureError& error) {
    if (error.may_be_capturing()) {
      failed_captures().add(model.graph_device(), error.what());
      abandon();
    } else {
      close();
    }
    model.without_graphs(error.what());
    open(call);
    first_run(session_);  // closed again where it throws
  } catch (...) {
    drop();
    throw;
  }
}

void LoadedModel::Candidate::open(const DeviceCall& call) {
  opened_ = model_.open_for(call);
  session_ = opened_.get();
  if (model_.has_graphs()) model_.graphs->add(session_);
}

/// The file's first session stays as it is, unused, until the model goes.
void LoadedModel::Candidate::close() noexcept {
  if (opened_ == nullptr) return;
  model_.graphs->remove(session_);
  opened_.reset();
}

/// A session whose capture failed is neither used nor closed, which could end the program.
void LoadedModel::Candidate::abandon() {
  if (opened_ == nullptr) model_.keeps_first_ = true;
  static_cast<void>(opened_.release());
}

LoadedModel::Candidate::~Candidate() {
  if (!kept_) drop();
}

/// One that stays keeps its graph, which ONNX Runtime would replay on memory that is gone.
void LoadedModel::Candidate::drop() noexcept {
  if (opened_ == nullptr) return model_.give_idle(session_);
  if (model_.graphs != nullptr) model_.graphs->remove(session_);
}

void LoadedModel::Candidate::keep(const DeviceCall& call) {
  Prepared prepared{call.shape, session_};
  prepared.shape[0] = call.rows;
  if (model_.one_session()) {
    const auto profile = engine_profile(call.input, {}, call.limit, model_.options.max_batch);
    prepared.shape[0] =
        profile_can_name(call.input) && opened_ != nullptr ? profile.most : call.limit;
  }
  const std::lock_guard lock(model_.mutex_);
  model_.prepared_.push_back(std::move(prepared));
  if (opened_ != nullptr) model_.more_.push_back(std::move(opened_));
  kept_ = true;
}

OrtSession* LoadedModel::session_for(const DeviceCall& call, const FirstRun& first_run) {
  if (OrtSession* found = known(call)) return found;
  const std::lock_guard alone(device_lock());
  if (OrtSession* found = known(call)) return found;
  Candidate candidate(*this, call, first_run);
  candidate.keep(call);
  return candidate.get();
}

double LoadedModel::seconds_of(const DeviceCall& call, double most, const FirstRun& run) {
  if (const auto found = known_seconds(call)) return *found;
  const std::lock_guard alone(device_lock());
  if (const auto found = known_seconds(call)) return *found;
  if (OrtSession* found = known(call)) return measure(call, found, run);
  Candidate candidate(*this, call, run);
  const double seconds = measure(call, candidate.get(), run);
  if (seconds <= most) candidate.keep(call);
  return seconds;
}

std::optional<double> LoadedModel::known_seconds(const DeviceCall& call) const {
  const std::lock_guard lock(mutex_);
  const auto found = seconds_.find(with_rows(call.shape, call.rows));
  return found == seconds_.end() ? std::nullopt : std::optional(found->second);
}

double LoadedModel::measure(const DeviceCall& call, OrtSession* session, const FirstRun& run) {
  const auto given = options.call_seconds.find(call.rows);
  const double seconds =
      given != options.call_seconds.end() ? given->second : least_seconds([&] { run(session); });
  const std::lock_guard lock(mutex_);
  return seconds_.emplace(with_rows(call.shape, call.rows), seconds).first->second;
}

void LoadedModel::probe(const DeviceCall& call, const FirstRun& run) {
  bool ran = false;
  const FirstRun noted = [&](OrtSession* session) {
    run(session);
    ran = true;
  };
  if (!one_session() && known(call) == nullptr) {
    const std::lock_guard alone(device_lock());
    const Candidate unkept(*this, call, run);
    return;
  }
  OrtSession* session = session_for(call, noted);
  const std::shared_lock shared(device_lock());
  if (!ran) run(session);
}

int LoadedModel::least_prepared(const std::vector<std::int64_t>& shape, int otherwise) const {
  const std::lock_guard lock(mutex_);
  std::optional<int> least;
  for (const Prepared& prepared : prepared_) {
    if (!same_row(prepared.shape, shape)) continue;
    const int rows = static_cast<int>(prepared.shape[0]);
    least = std::min(least.value_or(rows), rows);
  }
  return least.value_or(otherwise);
}

}  // namespace pyengine::ort
