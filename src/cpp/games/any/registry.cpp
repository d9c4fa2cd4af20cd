#include "games/any/registry.h"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>

#include "base/error.h"
#include "base/text.h"
#include "games/any/typed_game.h"
#include "games/list.h"

namespace pyengine {
namespace {

template <class G>
bool plays(const typename G::Params& params) {
  if constexpr (requires { G::accepts(params); }) return G::accepts(params);
  return true;
}

/// Null if G leaves these parameters to another game of the same name.
template <class G>
std::shared_ptr<const AnyGame> try_game(const ParamMap& params) {
  const typename G::Params parsed = G::parse(params);
  return plays<G>(parsed) ? std::make_shared<TypedGame<G>>(parsed) : nullptr;
}

class Registry {
 public:
  Registry() {
    const auto add_all = [this]<class... G>(std::type_identity<std::tuple<G...>>) {
      (add_built_in<G>(), ...);
    };
    add_all(std::type_identity<GameTypes>{});
  }

  bool add(std::string_view name, LoadGame load) {
    const std::lock_guard lock(mutex_);
    return games_.try_emplace(std::string(name), 1, load).second;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> all;
    all.reserve(games_.size());
    for (const auto& [name, types] : games_) all.push_back(name);
    return all;
  }
  /// Those that share a name; empty if it is unknown.
  [[nodiscard]] std::vector<LoadGame> find(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    const auto entry = games_.find(name);
    return entry != games_.end() ? entry->second : std::vector<LoadGame>();
  }

 private:
  template <class G>
  void add_built_in() {
    if constexpr (!std::is_same_v<G, ForeignPosition>) {
      games_[std::string(G::kName)].push_back(&try_game<G>);
    }
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::vector<LoadGame>, std::less<>> games_;
};

Registry& registry() {
  static Registry all;
  return all;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace

std::vector<std::string> registered_games() { return registry().names(); }

bool add_game(std::string_view name, LoadGame load) { return registry().add(name, load); }

std::shared_ptr<const AnyGame> load_game(std::string_view name, const ParamMap& params) {
  for (const LoadGame load : registry().find(name)) {
    if (auto game = load(params)) return game;
  }
  throw ConfigError("unknown game " + in_quotes(name) + ": expected one of " +
                    joined(registered_games()));
}

}  // namespace pyengine
