#define PYENGINE_WITH_TARGET
#include "games/othello.h"

#include "base/error.h"
#include "games/any/setup_check.h"
#include "games/common/grid_text.h"
#include "games/common/status.h"
#include "games/othello_playout.h"
#include "games/othello_playout_of.h"

namespace pyengine {
namespace {

GridNames names_of(const OthelloParams& params) {
  return {.rows = params.board_size, .columns = params.board_size};
}

template <class Word>
Word from_bits(const BoardBits& bits) {
  if constexpr (std::is_same_v<Word, Bits128>) {
    return Bits128(bits.words[0], bits.words[1]);
  } else {
    return bits.words[0];
  }
}

/// The portable rules for a point given by its index.
template <class Bits, class Word>
struct ByPoint {
  static Word spread(Word discs) noexcept { return discs; }
  static Word gather(Word discs) noexcept { return discs; }
  static Word moves(Word own, Word other) noexcept { return Bits::moves(own, other); }
  static Word flips(unsigned point, Word own, Word other) noexcept {
    return Bits::flips(bit_at<Word>(static_cast<int>(point)), own, other);
  }
  static int count(Word set) noexcept { return count_discs(set); }
  static unsigned nth(std::uint64_t set, unsigned rank) noexcept {
    return nth_bit(set, rank, bits_below(set));
  }
  static unsigned nth(Bits128 set, unsigned rank) noexcept {
    const std::array words = {set.low, set.high};
    return nth_bit(words.data(), rank);
  }
};

}  // namespace

template <class Word>
OthelloParams OthelloGame<Word>::parse(const ParamMap& given) {
  ParamReader reader(kName, given);
  Params params;
  params.board_size = static_cast<int>(reader.integer("board_size", params.board_size, 4, 10));
  reader.finish();
  if (params.board_size % 2 != 0) {
    throw ConfigError(
        "game \"othello\": parameter \"board_size\": expected an even integer in 4..10, got " +
        std::to_string(params.board_size));
  }
  return params;
}

template <class Word>
ParamMap OthelloGame<Word>::describe(const Params& params) {
  return {{"board_size", static_cast<long long>(params.board_size)}};
}

template <class Word>
GameShape OthelloGame<Word>::shape(const Params& params) {
  const int points = params.board_size * params.board_size;
  return {.rows = params.board_size,
          .columns = params.board_size,
          .num_actions = points + 1,
          .max_game_length = 2 * points,  // there are never two consecutive passes
          .pass = points,
          .symmetry = SymmetryGroup::square};
}

template <class Word>
std::string OthelloGame<Word>::action_to_string(const Params& params, Action action) {
  return action == shape(params).pass ? "pass" : point_name(names_of(params), action);
}

template <class Word>
Action OthelloGame<Word>::string_to_action(const Params& params, std::string_view text) {
  return same_word(text, "pass") ? shape(params).pass : point_named(names_of(params), text);
}

template <class Word>
OthelloGame<Word>::OthelloGame(const Params& params) noexcept : params_(params) {
  const int size = params.board_size;
  const int top_left = (size / 2 - 1) * size + size / 2 - 1;  // d4 on 8x8
  auto& [first, second] = boards_[0].discs;
  second = bit_at<Word>(top_left) | bit_at<Word>(top_left + size + 1);
  first = bit_at<Word>(top_left + 1) | bit_at<Word>(top_left + size);
}

template <class Word>
OthelloGame<Word> OthelloGame<Word>::from_setup(const Params& params, const BoardSetup& setup) {
  check_setup(kName, shape(params), setup);
  check_no_ko(kName, setup);
  OthelloGame game(params);
  game.boards_[0] = {{from_bits<Word>(setup.first), from_bits<Word>(setup.second)}};
  game.to_move_ = static_cast<std::uint8_t>(setup.to_move);
  return game;
}

template <class Word>
Outcome OthelloGame<Word>::count() const noexcept {
  return othello_outcome(board().discs[0], board().discs[1]);
}

template <class Word>
Playout OthelloGame<Word>::light_playout(Rng& rng) const noexcept {
  const Word own = board().discs[to_move_];
  const Word other = board().discs[1U - to_move_];
  if constexpr (!kLarge) {
    const othello::PlayOut play = othello::avx2_playout();
    if (params_.board_size == 8 && play != nullptr) {
      return play(own, other, to_move_, rng);
    }
  }
  return with_bits([&]<class Bits>(Bits) {
    return play_othello<ByPoint<Bits, Word>>(own, other, to_move_, rng);
  });
}

template <class Word>
std::string OthelloGame<Word>::to_string() const {
  const BoardBits first = to_bits(board().discs[0]);
  const BoardBits second = to_bits(board().discs[1]);
  Status status = Status::playing;
  if (const auto end = outcome()) {
    status = end->first == 0.0F ? Status::draw : won_by(end->first > 0.0F ? 0 : 1);
  }
  return board_text(names_of(params_), first, second) + turn_text(status, to_move_);
}

template class OthelloGame<std::uint64_t>;
template class OthelloGame<Bits128>;

}  // namespace pyengine
