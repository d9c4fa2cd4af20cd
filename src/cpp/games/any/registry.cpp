#include "games/any/registry.h"

#include <algorithm>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "base/text.h"
#include "games/any/typed_game.h"
#include "games/list.h"

namespace pyengine {
namespace {

/// Calls visit(std::type_identity<G>{}) for each named game.
template <class Visit>
void for_each_game(Visit&& visit) {
  const auto each = [&]<class... G>(std::type_identity<std::tuple<G...>>) {
    (visit(std::type_identity<G>{}), ...);
  };
  each(std::type_identity<GameTypes>{});
}

template <class G>
bool plays(const typename G::Params& params) {
  if constexpr (requires { G::accepts(params); }) return G::accepts(params);
  return true;
}

/// Null if G has another name, or leaves these parameters to another game of the same name.
template <class G>
std::shared_ptr<const AnyGame> try_game(std::string_view name, const ParamMap& params) {
  if constexpr (!std::is_same_v<G, ForeignPosition>) {
    if (name == G::kName) {
      const typename G::Params parsed = G::parse(params);
      if (plays<G>(parsed)) return std::make_shared<TypedGame<G>>(parsed);
    }
  }
  return nullptr;
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace

std::vector<std::string_view> registered_games() {
  std::vector<std::string_view> names;
  for_each_game([&]<class G>(std::type_identity<G>) {
    if constexpr (!std::is_same_v<G, ForeignPosition>) names.push_back(G::kName);
  });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::shared_ptr<const AnyGame> load_game(std::string_view name, const ParamMap& params) {
  std::shared_ptr<const AnyGame> game;
  for_each_game([&]<class G>(std::type_identity<G>) {
    if (game == nullptr) game = try_game<G>(name, params);
  });
  if (game != nullptr) return game;
  throw ConfigError("unknown game " + in_quotes(name) + ": expected one of " +
                    joined(registered_games()));
}

}  // namespace pyengine
