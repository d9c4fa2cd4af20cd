#include "games/go/go.h"

#include "base/error.h"

namespace pyengine {
namespace {

/// Throws ConfigError unless the stones of `setup` are a valid position on this board.
void check_setup(const GoParams& params, const GoGeometry& geometry, const BoardSetup& setup) {
  if (setup.to_move != 0 && setup.to_move != 1) {
    throw ConfigError("go: player to move must be 0 or 1, got " + std::to_string(setup.to_move));
  }
  if (((setup.first | setup.second) - geometry.all).any()) {
    throw ConfigError("go: stones must lie on the board of " + std::to_string(params.rows) + "x" +
                      std::to_string(params.columns) + ", got one outside");
  }
  const auto refuse = [&](const BoardBits& found, const char* reason) {
    if (!found.any()) return;
    int point = 0;
    while (!found.test(point)) ++point;
    throw ConfigError("go: " + go_action_to_string(params, point) + " " + reason);
  };
  refuse(setup.first & setup.second, "must hold one stone at most, got one of each player");
  using Points = PointSet<BoardBits::kWords>;
  const Points empty = Points::of(geometry.all - setup.first - setup.second);
  for (const BoardBits* stones : {&setup.first, &setup.second}) {
    const Points own = Points::of(*stones);
    const Points alive = flood(beside(empty, geometry) & own, own, geometry);
    refuse((own - alive).widened(), "must have a liberty, got a group without one");
  }
}

/// The points of `empty` connected to a stone of `stones` through empty points.
template <int Words>
PointSet<Words> reached(const PointSet<Words>& stones, const PointSet<Words>& empty,
                        const GoGeometry& geometry) noexcept {
  return flood(beside(stones, geometry) & empty, empty, geometry);
}

}  // namespace

template <int MaxSide>
BasicGo<MaxSide>::BasicGo(const GoParams& params)
    : params_(params), geometry_(go_geometry(params.rows, params.columns)) {
  if (params_.superko == Superko::simple) return;
  history_.make_room(0);
  history_.add(history_key(), 0);
}

template <int MaxSide>
BasicGo<MaxSide> BasicGo<MaxSide>::from_setup(const GoParams& params, const BoardSetup& setup) {
  BasicGo go;
  go.params_ = params;
  go.geometry_ = go_geometry(params.rows, params.columns);
  check_setup(params, *go.geometry_, setup);
  Points none;
  const auto put = [&](const BoardBits& stones, int player) {
    stones.for_each([&](int point) {
      go.board_.play(static_cast<unsigned>(point), player, *go.geometry_, none);
    });
  };
  put(setup.first, 0);  // nothing is captured on the way: fewer stones leave more liberties
  put(setup.second, 1);
  go.to_move_ = static_cast<std::uint8_t>(setup.to_move);
  if (setup.ko != kNoAction) go.set_up_ko(setup.ko);
  if (params.superko != Superko::simple) {
    go.history_.make_room(go.board_.num_stones());
    go.history_.add(go.history_key(), go.board_.num_stones());
  }
  return go;
}

/// The position before the capture that created the ko is the one that recapturing would repeat, so
/// it enters the superko history.
template <int MaxSide>
void BasicGo<MaxSide>::set_up_ko(Action ko) {
  const auto refuse = [&](const char* reason) {
    throw ConfigError(std::string("go: ko must be a point where the player to move would retake a "
                                  "single stone, got ") +
                      reason);
  };
  if (ko < 0 || ko >= geometry_->points) refuse("no point of the board");
  const auto point = static_cast<unsigned>(ko);
  if (!board_.empty(point)) refuse("a stone there");
  if (board_.has_empty_beside(point, *geometry_)) refuse("an empty point beside it");
  if (board_.has_friend_beside(point, to_move_, *geometry_)) refuse("a friendly stone beside it");
  if (!board_.can_live(point, to_move_, *geometry_)) refuse("nothing to take");
  const auto before = board_.preview(point, to_move_, true, *geometry_);
  if (before.stones != board_.num_stones()) refuse("more than one stone to take");
  ko_ = ko;
  taken_[to_move_].set(point);
  if (params_.superko == Superko::simple) return;
  const bool second_moved = to_move_ == 0 && params_.superko == Superko::situational;
  history_.make_room(before.stones);
  history_.add(before.key ^ (second_moved ? kGoKeys.second_to_move : 0), before.stones);
}

template <int MaxSide>
Outcome BasicGo<MaxSide>::score() const noexcept {
  const GoArea sum = area();
  return outcome_of(sum.first - sum.second);
}

template <int MaxSide>
auto BasicGo<MaxSide>::areas() const noexcept -> std::array<Points, 2> {
  const Points empty = empties();
  const Points first = reached(board_.stones(0), empty, *geometry_);
  const Points second = reached(board_.stones(1), empty, *geometry_);
  return {board_.stones(0) | (first - second), board_.stones(1) | (second - first)};
}

template <int MaxSide>
GoArea BasicGo<MaxSide>::area() const noexcept {
  const auto [first, second] = areas();
  return {first.count(), second.count()};
}

template <int MaxSide>
void BasicGo<MaxSide>::area_points(BoardBits& first, BoardBits& second) const noexcept {
  const std::array<Points, 2> areas = this->areas();
  first = areas[0].widened();
  second = areas[1].widened();
}

template <int MaxSide>
void BasicGo<MaxSide>::legal_actions(ActionList& moves) const {
  moves.clear();
  if (over()) return;
  const Points legal = legal_points();
  const int count = legal.count();
  ActionId* const room = moves.extend(count + 1);
  write_points(legal, count, room);
  room[count] = static_cast<ActionId>(pass());
}

template <int MaxSide>
BoardBits BasicGo<MaxSide>::legal_bits() const noexcept {
  if (over()) return {};
  BoardBits bits = legal_points().widened();
  bits.set(static_cast<int>(pass()));
  return bits;
}

template <int MaxSide>
auto BasicGo<MaxSide>::legal_points() const noexcept -> Points {
  Points legal = empties();
  Points careful = legal - beside(legal, *geometry_);
  if (params_.superko != Superko::simple) careful |= taken_[to_move_] & legal;
  careful.for_each([&](unsigned point) {
    if (!is_legal_point(point)) legal.reset(point);
  });
  return legal;
}

template <int MaxSide>
bool BasicGo<MaxSide>::is_legal(Action action) const noexcept {
  if (action < 0 || action > geometry_->points || over()) return false;
  const auto point = static_cast<unsigned>(action);
  return point == pass() || (board_.empty(point) && is_legal_point(point));
}

template <int MaxSide>
bool BasicGo<MaxSide>::is_legal_point(unsigned point) const noexcept {
  if (static_cast<Action>(point) == ko_) return false;
  const bool lives = board_.can_live(point, to_move_, *geometry_);
  if (!lives && (!params_.suicide || !board_.has_friend_beside(point, to_move_, *geometry_))) {
    return false;
  }
  if (params_.superko == Superko::simple || (lives && !taken_[to_move_].test(point))) return true;
  return !repeats(point, lives);
}

template <int MaxSide>
bool BasicGo<MaxSide>::repeats(unsigned point, bool lives) const noexcept {
  const int more = board_.num_stones() + 1;
  if (lives && !history_.any_with(more) && !board_.captures(point, to_move_, *geometry_)) {
    return false;
  }
  const auto after = board_.preview(point, to_move_, lives, *geometry_);
  const bool second_next = params_.superko == Superko::situational && to_move_ == 0;
  return history_.contains(after.key ^ (second_next ? kGoKeys.second_to_move : 0), after.stones);
}

template <int MaxSide>
PositionKey BasicGo<MaxSide>::transposition_key() const noexcept {
  const auto ko = static_cast<std::uint64_t>(ko_ + 1);
  KeyHash hash(ko << 16 | std::uint64_t{passes_} << 8 | to_move_);
  for (const Points* stones : {&board_.stones(0), &board_.stones(1)}) {
    for (const std::uint64_t word : stones->words) hash.add(word);
  }
  if (params_.superko != Superko::simple) {
    hash.add(params_.suicide ? history_.set_key() : history_.set_key_at_last_removal());
  }
  return hash.key();
}

template <int MaxSide>
void BasicGo<MaxSide>::play(Action action) {
  // First do everything that may throw.
  if (params_.superko != Superko::simple) history_.make_room(board_.num_stones() + 1);
  const auto point = static_cast<unsigned>(action);
  Ply& ply = plies_[slot(ply_)];
  ply.move = static_cast<std::int16_t>(action);
  ply.captured = false;
  ko_ = kNoAction;
  ++ply_;
  to_move_ ^= 1U;
  if (point == pass()) {
    ++passes_;
    if (params_.superko != Superko::situational) return;  // the same board
    if (history_.contains(history_key(), board_.num_stones())) return;
  } else {
    passes_ = 0;
    place(point, ply);
  }
  if (params_.superko != Superko::simple) history_.add(history_key(), board_.num_stones());
}

template <int MaxSide>
void BasicGo<MaxSide>::place(unsigned point, Ply& ply) noexcept {
  const int mover = 1 - to_move_;
  Points removed;
  const int taken = board_.play(point, mover, *geometry_, removed);
  if (taken == 0) return;
  ply.captured = true;
  ply.suicide = board_.empty(point);
  ply.removed = removed;
  taken_[static_cast<unsigned>(ply.suicide ? mover : 1 - mover)] |= removed;
  // A ko: one stone was captured by a lone stone whose only liberty is the captured stone's point.
  if (taken == 1 && !ply.suicide && board_.open_sides(point) == 1 &&
      !board_.has_friend_beside(point, mover, *geometry_)) {
    removed.for_each([&](unsigned p) { ko_ = static_cast<Action>(p); });
  }
}

template <int MaxSide>
void BasicGo<MaxSide>::stones(int t, BoardBits& first, BoardBits& second) const noexcept {
  if (t > ply_) {
    first = second = BoardBits{};
    return;
  }
  std::array<Points, 2> board{board_.stones(0), board_.stones(1)};
  for (int undone = 1; undone <= t; ++undone) {
    const Ply& ply = plies_[slot(ply_ - undone)];
    const unsigned mover = (to_move_ + static_cast<unsigned>(undone)) % 2;
    const auto point = static_cast<unsigned>(ply.move);
    if (point == pass()) continue;
    if (ply.captured) board[ply.suicide ? mover : 1 - mover] |= ply.removed;
    board[mover].reset(point);  // after a suicide, the point is among the removed ones
  }
  first = board[0].widened();
  second = board[1].widened();
}

template <int MaxSide>
void BasicGo<MaxSide>::liberties(int k, BoardBits& bits) const noexcept {
  const Points empty = empties();
  const int wanted = k < 0 ? -k : k;
  Points found;
  for (const int player : {0, 1}) {
    Points rest = board_.stones(player);
    board_.stones(player).for_each([&](unsigned stone) {
      if (!rest.test(stone)) return;
      Points chain;
      board_.for_chain(stone, [&](unsigned point) { chain.set(point); });
      rest -= chain;
      if (board_.open_sides(stone) < wanted) return;
      const int count = (beside(chain, *geometry_) & empty).count();
      if (k < 0 ? count >= wanted : count == wanted) found |= chain;
    });
  }
  bits = found.widened();
}

template <int MaxSide>
auto BasicGo<MaxSide>::own_eyes(const Points& empty) const noexcept -> Points {
  const Points all = Points::of(geometry_->all);
  const Points eyes = empty - beside(all - board_.stones(to_move_), *geometry_);
  return eyes.any() ? eyes - cornered(board_.stones(1 - to_move_), *geometry_) : eyes;
}

template <int MaxSide>
Action BasicGo<MaxSide>::playout_move(Rng& rng, ActionList& /*scratch*/) const noexcept {
  const auto points = static_cast<std::uint32_t>(geometry_->points);
  const bool open_board = 2 * static_cast<std::uint32_t>(board_.num_stones()) < points;
  // On an open board a random point usually works. Each random number gives two.
  for (int numbers = 0; open_board && numbers < 2; ++numbers) {
    const std::uint64_t bits = rng.next();
    for (const std::uint64_t half : {bits >> 32, bits & 0xFFFFFFFFU}) {
      const auto point = static_cast<unsigned>((half * points) >> 32);
      if (!board_.empty(point) || !is_legal_point(point)) continue;
      if (board_.has_empty_beside(point, *geometry_) || !own_eyes(empties()).test(point)) {
        return static_cast<Action>(point);
      }
    }
  }
  return draw_playout_move(rng);
}

template <int MaxSide>
Action BasicGo<MaxSide>::draw_playout_move(Rng& rng) const noexcept {
  const Points empty = empties();
  Points sure = empty & beside(empty, *geometry_);  // not eyes, and legal except for superko
  if (params_.superko != Superko::simple) sure -= taken_[to_move_];
  Points rest = empty - sure - own_eyes(empty);
  const auto num_sure = static_cast<std::uint32_t>(sure.count());
  for (auto num_rest = static_cast<std::uint32_t>(rest.count()); num_sure + num_rest > 0;) {
    const std::uint32_t drawn = rng.below(num_sure + num_rest);
    if (drawn < num_sure) return static_cast<Action>(sure.member(drawn));
    const unsigned point = rest.member(drawn - num_sure);
    if (is_legal_point(point)) return static_cast<Action>(point);
    rest.reset(point);
    --num_rest;
  }
  return static_cast<Action>(pass());
}

template <int MaxSide>
std::string BasicGo<MaxSide>::to_string() const {
  std::string text = go_board_text(params_, board_.stones(0).widened(), board_.stones(1).widened());
  if (over()) return text + "game over\n";
  return text + (to_move_ == 0 ? "X" : "O") + " to move\n";
}

template class BasicGo<9>;
template class BasicGo<13>;
template class BasicGo<19>;

}  // namespace pyengine
