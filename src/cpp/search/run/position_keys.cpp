#include "search/run/position_keys.h"

#include <atomic>

#include "games/any/call_guard.h"

namespace pyengine {

std::uint64_t PositionKeys<ForeignPosition>::next_owner() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::optional<PositionKey> PositionKeys<ForeignPosition>::of(const ForeignPosition& position) {
  const ForeignState& state = *position.state();
  const ForeignPosition::WalkScope scope(position);
  if (const std::optional<PositionKey> key = state.transposition_key()) return key;
  CallGuard::check();
  const std::optional<std::uint64_t> hash = state.hash();
  if (!hash) return std::nullopt;
  const auto keep = [&state] { return state.clone(); };
  return PositionKey{owner_, numbers_.number(state, *hash, keep, CallGuard::check)};
}

}  // namespace pyengine
