/// Othello on even boards from 4x4 to 10x10: action row * size + column, pass = size * size.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/rng.h"
#include "games/common/hashing.h"
#include "games/common/key_hash.h"
#include "games/common/point_list.h"
#include "games/game.h"
#include "games/othello_bits.h"

namespace pyengine {

struct OthelloParams {
  int board_size = 8;  ///< even, 4..10
  friend bool operator==(const OthelloParams&, const OthelloParams&) = default;
};

/// Word holds the board: std::uint64_t up to 8x8, Bits128 for 10x10. The last eight boards are
/// stored, since flips cannot be undone from the moves alone. Mobility is computed on demand: a
/// search needs it at leaves, but not on the way there.
template <class Word>
class OthelloGame {
 public:
  using Params = OthelloParams;
  static constexpr std::string_view kName = "othello";
  static constexpr bool kFillsUp = true;
  static bool accepts(const Params& params) noexcept { return (params.board_size == 10) == kLarge; }
  static Params parse(const ParamMap& given);
  static ParamMap describe(const Params& params);
  static GameShape shape(const Params& params);
  static std::string action_to_string(const Params& params, Action action);
  static Action string_to_action(const Params& params, std::string_view text);

  OthelloGame() : OthelloGame(Params{.board_size = kLarge ? 10 : 8}) {}
  /// `params` must have been validated.
  explicit OthelloGame(const Params& params) noexcept;
  static OthelloGame from_setup(const Params& params, const BoardSetup& setup);

  [[nodiscard]] const Params& params() const noexcept { return params_; }
  [[nodiscard]] int to_move() const noexcept { return to_move_; }
  [[nodiscard]] std::optional<Outcome> outcome() const noexcept {
    if (moves_of(to_move_) != Word{} || moves_of(1 - to_move_) != Word{}) return std::nullopt;
    return count();
  }
  [[nodiscard]] BoardBits legal_bits() const noexcept {
    const Word own_moves = moves_of(to_move_);
    BoardBits bits = to_bits(own_moves);
    if (own_moves == Word{} && moves_of(1 - to_move_) != Word{}) bits.set(pass());
    return bits;
  }
  void legal_actions(ActionList& moves) const {
    const Word own_moves = moves_of(to_move_);
    if (own_moves == Word{}) {
      moves.clear();
      if (moves_of(1 - to_move_) != Word{}) moves.push_back(pass());
    } else if constexpr (kLarge) {
      list_points(to_bits(own_moves), pass(), moves);
    } else {
      list_bits(own_moves, moves);
    }
  }
  [[nodiscard]] bool is_legal(Action action) const noexcept {
    if (action < 0 || action > pass()) return false;
    const Word own_moves = moves_of(to_move_);
    if (action < pass()) return (own_moves & bit_at<Word>(action)) != Word{};
    return own_moves == Word{} && moves_of(1 - to_move_) != Word{};
  }
  void play(Action action) noexcept {
    Board next = board();
    if (action != pass()) {
      const Word place = bit_at<Word>(action);
      Word& own = next.discs[to_move_];
      Word& other = next.discs[1U - to_move_];
      const Word flipped =
          with_bits([&]<class Bits>(Bits) { return Bits::flips(place, own, other); });
      own |= place | flipped;
      other = other & ~flipped;
    }
    recent_[plies_ % kRemembered] = static_cast<std::uint8_t>(action);
    ++plies_;
    boards_[plies_ % kRemembered] = next;
    to_move_ ^= 1U;
  }
  [[nodiscard]] std::uint64_t hash() const noexcept {
    const auto& [first, second] = board().discs;
    if constexpr (kLarge) {
      return hash_words(hash_words(first.low, second.low, 0),
                        hash_words(first.high, second.high, 1), to_move_);
    } else {
      return hash_words(first, second, to_move_);
    }
  }
  /// Up to 8x8 it is exact: the first player's discs are a subset of all discs, so their order can
  /// contain the player to move. Both orders are the same only if the game is over.
  [[nodiscard]] PositionKey transposition_key() const noexcept {
    const auto& [first, second] = board().discs;
    if constexpr (kLarge) {
      KeyHash hash(to_move_);
      for (const Word& discs : {first, second}) {
        hash.add(discs.low);
        hash.add(discs.high);
      }
      return hash.key();
    } else {
      const PositionKey key{first, first | second};
      return to_move_ == 0 ? key : PositionKey{key.low, key.high};
    }
  }
  void stones(int t, BoardBits& first, BoardBits& second) const noexcept {
    const Board then =
        t > plies_ ? Board{} : boards_[static_cast<unsigned>(plies_ - t) % kRemembered];
    first = to_bits(then.discs[0]);
    second = to_bits(then.discs[1]);
  }
  [[nodiscard]] Action last_move(int t) const noexcept {
    if (t >= plies_) return kNoAction;
    return recent_[static_cast<unsigned>(plies_ - 1 - t) % kRemembered];
  }
  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] bool has_light_playout() const noexcept { return true; }
  Playout light_playout(Rng& rng) const noexcept;

  /// Same board and player to move.
  friend bool operator==(const OthelloGame& a, const OthelloGame& b) noexcept {
    return a.board().discs == b.board().discs && a.to_move_ == b.to_move_ && a.params_ == b.params_;
  }

 private:
  static constexpr bool kLarge = std::is_same_v<Word, Bits128>;
  static constexpr unsigned kRemembered = 8;

  struct Board {
    std::array<Word, 2> discs{};  ///< of the first and second player
  };

  static BoardBits to_bits(Word word) noexcept {
    BoardBits bits;
    if constexpr (kLarge) {
      bits.words[0] = word.low;
      bits.words[1] = word.high;
    } else {
      bits.words[0] = word;
    }
    return bits;
  }
  [[nodiscard]] const Board& board() const noexcept { return boards_[plies_ % kRemembered]; }
  [[nodiscard]] Action pass() const noexcept { return params_.board_size * params_.board_size; }
  /// Calls `use` with the rules of this board size, which are compiled for each size.
  template <class Use>
  decltype(auto) with_bits(Use&& use) const noexcept {
    if constexpr (kLarge) {
      return use(OthelloBits<10, Word>{});
    } else {
      if (params_.board_size == 8) return use(OthelloBits<8, Word>{});
      if (params_.board_size == 6) return use(OthelloBits<6, Word>{});
      return use(OthelloBits<4, Word>{});
    }
  }
  [[nodiscard]] Word moves_of(int player) const noexcept {
    const auto& discs = board().discs;
    const Word own = discs[static_cast<unsigned>(player)];
    const Word other = discs[static_cast<unsigned>(1 - player)];
    return with_bits([&]<class Bits>(Bits) { return Bits::moves(own, other); });
  }
  [[nodiscard]] Outcome count() const noexcept;

  std::array<Board, kRemembered> boards_{};  ///< board after ply p at p % 8
  Params params_;
  std::array<std::uint8_t, kRemembered> recent_{};  ///< move of ply p at p % 8
  std::uint16_t plies_ = 0;                         ///< since the start
  std::uint8_t to_move_ = 0;
};

using Othello = OthelloGame<std::uint64_t>;
using OthelloLarge = OthelloGame<Bits128>;

extern template class OthelloGame<std::uint64_t>;
extern template class OthelloGame<Bits128>;

static_assert(Game<Othello> && Game<OthelloLarge>);
static_assert(std::is_trivially_copyable_v<Othello> && sizeof(Othello) <= 152);
static_assert(std::is_trivially_copyable_v<OthelloLarge> && sizeof(OthelloLarge) <= 280);

}  // namespace pyengine
