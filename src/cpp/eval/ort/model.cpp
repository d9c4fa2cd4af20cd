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

/// Maximum number of batch sizes that are not powers of two with separate sessions on a device:
/// each session holds the network's weights.
constexpr std::size_t kMostOddSizes = 8;

/// An option of the CUDA provider.
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

/// Reasons for failed captures in this process, by device. Each failure leaves a session open, so
/// captures are not tried again.
class FailedCaptures {
 public:
  void add(int device, const std::string& why) {
    const std::lock_guard lock(mutex_);
    reasons_.emplace(device, why);
  }
  [[nodiscard]] std::optional<std::string> on(int device) const {
    const std::lock_guard lock(mutex_);
    const auto entry = reasons_.find(device);
    if (entry == reasons_.end()) return std::nullopt;
    return "a capture failed on this device before: " + entry->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<int, std::string> reasons_;
};

FailedCaptures& failed_captures() {
  static FailedCaptures of_process;
  return of_process;
}

/// The minimum of a few runs, or a single run if it is slow.
double least_seconds(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  constexpr int kMostRuns = 5;
  constexpr Seconds kLongest{0.02};
  Seconds least = Seconds::max();
  const auto begin = Clock::now();
  for (int i = 0; i < kMostRuns && Clock::now() - begin < kLongest; ++i) {
    const auto start = Clock::now();
    run();
    least = std::min(least, Seconds(Clock::now() - start));
  }
  return least.count();
}

/// Whether two input shapes differ only in the number of rows.
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
  const auto closing = std::make_shared<Given>(std::move(sessions), std::move(graphs));
  if (std::unique_lock alone(device_lock(), std::try_to_lock); alone) {
    closing->close();
    return;
  }
  run_in_background(
      [closing] {
        const std::lock_guard alone(device_lock());
        closing->close();
      },
      Background::devices);
}

LoadedModel::LoadedModel(const Library& runtime, std::filesystem::path file, OrtOptions requested,
                         ModelFiles before)
    : library(runtime),
      path(std::move(file)),
      options(std::move(requested)),
      files(std::move(before)) {
  if (options.providers.empty()) {
    open_on_best();
  } else {
    open(options.providers);
    reason = "named";
  }
  inputs = session_inputs(library.api(), session.get());
  outputs = session_outputs(library.api(), session.get());
  // Below this size each concurrent call gets a session: tiny models need little memory.
  constexpr std::uintmax_t kTiny = 2U << 20U;
  private_sessions_ = !on_device() && options.threads <= 1 && total_bytes(files) < kTiny;
  idle_.push_back(session.get());
}

LoadedModel::~LoadedModel() {
  if (forked()) {
    static_cast<void>(session.release());  // its threads exist in the parent only
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

/// TensorRT cannot build an engine here if the input's shape is free: game and batch are unknown.
/// If it is fixed, this session is the only one.
void LoadedModel::open(std::vector<OrtProvider> providers) {
  provider = full_name(library, providers.front().name);
  providers_ = std::move(providers);
  bool foreign =
      provider != kCuda && std::any_of(providers_.begin(), providers_.end(), asks_for_graphs);
  for (OrtProvider& configured : providers_) {
    foreign = drop_tensorrt_graphs(configured.options) || foreign;
  }
  std::unique_lock alone(device_lock(), std::defer_lock);
  if (on_device()) alone.lock();
  session_options = make_options(library, providers_, options);  // checks that they are available
  if (foreign) without_graphs("only supported if CUDA is the first provider");
  session = provider == kTensorRt ? open_with_engine(std::nullopt) : open_first();
}

bool LoadedModel::wants_graphs() const {
  return !options.graphs.empty() || (provider == kCuda && asks_for_graphs(providers_.front()));
}

/// Opens it with CUDA graphs if they are enabled and ONNX Runtime accepts the network.
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

/// Disables graphs for sessions opened from now on. Call with exclusive use of the device.
void LoadedModel::without_graphs(const std::string& why) {
  for (OrtProvider& configured : providers_) configured.options.erase(kGraphOption);
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
  Handle<OrtSession> opened = open_another();
  if (opened == nullptr) return session.get();
  const std::lock_guard lock(mutex_);
  more_.push_back(std::move(opened));
  idle_.reserve(more_.size() + 1);
  return more_.back().get();
}

/// Returns nullptr if the file has changed, before or after opening: it is then unclear which
/// version was opened. From then on all calls share the existing sessions.
Handle<OrtSession> LoadedModel::open_another() {
  if (changed_) return {};
  Handle<OrtSession> opened;
  if (unchanged()) opened = make_session(library, path, session_options.get());
  if (opened != nullptr && unchanged()) return opened;
  changed_ = true;
  return {};
}

void LoadedModel::release(OrtSession* returned) noexcept {
  if (private_sessions_ && !forked()) give_idle(returned);
}

OrtSession* LoadedModel::take_idle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  OrtSession* idle = idle_.back();
  idle_.pop_back();
  return idle;
}

/// The first session may be shared by several callers.
void LoadedModel::give_idle(OrtSession* returned) noexcept {
  const std::lock_guard lock(mutex_);
  if (std::find(idle_.begin(), idle_.end(), returned) == idle_.end()) idle_.push_back(returned);
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
  const auto entry = std::find_if(prepared_.begin(), prepared_.end(),
                                  [&](const Prepared& prepared) { return serves(prepared, call); });
  return entry == prepared_.end() ? nullptr : entry->session;
}

/// Whether batches may run on the first session. If one session serves all sizes, another one is
/// opened for them, unless the model has a fixed batch.
bool LoadedModel::first_may_serve() const {
  const auto fixed = [](const TensorInfo& input) {
    return std::all_of(input.shape.begin(), input.shape.end(), [](auto size) { return size > 0; });
  };
  return !one_session() || std::all_of(inputs.begin(), inputs.end(), fixed);
}

/// Checks again afterwards: the file may have been replaced meanwhile.
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

/// Uses the engine for a profile from the cache, or builds it, which takes minutes.
Handle<OrtSession> LoadedModel::open_with_engine(
    const std::optional<EngineProfile>& profile) const {
  std::vector<OrtProvider> providers = providers_;
  for (OrtProvider& configured : providers) {
    if (full_name(library, configured.name) != kTensorRt) continue;
    const ProviderOptions cached =
        tensorrt_options(configured.options, profile, options.engine_cache);
    configured.options =
        make_cache_folders(cached) ? cached : tensorrt_options(configured.options, profile, {});
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
    first_run(session_);  // closes it if it throws
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

/// The first session of the file stays open, unused, as long as the model.
void LoadedModel::Candidate::close() noexcept {
  if (opened_ == nullptr) return;
  model_.graphs->remove(session_);
  opened_.reset();
}

/// A session whose capture failed must be neither used nor closed: that could crash.
void LoadedModel::Candidate::abandon() {
  if (opened_ == nullptr) model_.keeps_first_ = true;
  static_cast<void>(opened_.release());
}

LoadedModel::Candidate::~Candidate() {
  if (!kept_) drop();
}

/// A session that stays open would replay its graph on freed memory.
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
  if (OrtSession* entry = known(call)) return entry;
  const std::lock_guard alone(device_lock());
  if (OrtSession* entry = known(call)) return entry;
  Candidate candidate(*this, call, first_run);
  candidate.keep(call);
  return candidate.get();
}

double LoadedModel::seconds_of(const DeviceCall& call, double most, const FirstRun& run) {
  if (const auto entry = known_seconds(call)) return *entry;
  const std::lock_guard alone(device_lock());
  if (const auto entry = known_seconds(call)) return *entry;
  if (OrtSession* entry = known(call)) return measure(call, entry, run);
  Candidate candidate(*this, call, run);
  const double seconds = measure(call, candidate.get(), run);
  if (seconds <= most) candidate.keep(call);
  return seconds;
}

std::optional<double> LoadedModel::known_seconds(const DeviceCall& call) const {
  const std::lock_guard lock(mutex_);
  const auto entry = seconds_.find(with_rows(call.shape, call.rows));
  return entry == seconds_.end() ? std::nullopt : std::optional(entry->second);
}

double LoadedModel::measure(const DeviceCall& call, OrtSession* session, const FirstRun& run) {
  const auto fixed = options.call_seconds.find(call.rows);
  const double seconds =
      fixed != options.call_seconds.end() ? fixed->second : least_seconds([&] { run(session); });
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
