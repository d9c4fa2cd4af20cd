#include "games/any/state.h"

#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "games/any/foreign.h"

namespace pyengine {
namespace {

constexpr std::string_view kStart = ";start=";
constexpr std::string_view kMoves = ";moves=";

/// The initial position of a state; exceptions of a user's game propagate.
std::unique_ptr<AnyPosition> first_position(const AnyGame& game,
                                            const std::optional<BoardSetup>& start) {
  auto position = start.has_value() ? game.from_setup(*start) : game.initial_position();
  position->rethrow_if_failed();
  return position;
}

char stone_at(const BoardSetup& setup, int point) {
  if (setup.first.test(point)) return 'X';
  return setup.second.test(point) ? 'O' : '.';
}

/// "X.O/.../...,0", or "...,0,5" if the ko rule forbids point 5.
std::string write_setup(const GameShape& shape, const BoardSetup& setup) {
  std::string text;
  for (int row = 0; row < shape.rows; ++row) {
    if (row > 0) text += '/';
    for (int column = 0; column < shape.columns; ++column) {
      text += stone_at(setup, row * shape.columns + column);
    }
  }
  text += ',' + std::to_string(setup.to_move);
  if (setup.ko != kNoAction) text += ',' + std::to_string(setup.ko);
  return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

int read_int(std::string_view text, std::string_view what) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) {
    throw ConfigError("a serialised state: expected " + std::string(what) + ", got " +
                      in_quotes(text));
  }
  return value;
}

BoardSetup read_setup(const AnyGame& game, std::string_view text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() < 2 || parts.size() > 3) {
    throw ConfigError(
        "a serialised state: expected \"start=ROWS,PLAYER\" or \"start=ROWS,PLAYER,KO\", "
        "got " +
        in_quotes(text));
  }
  const std::vector<std::string> rows = split(parts[0], '/');
  BoardSetup setup = read_board(game, rows, read_int(parts[1], "the player to move"));
  if (parts.size() == 3) {
    setup.ko = read_int(parts[2], "the point of the ko");
    if (!game.traits().has_ko || setup.ko < 0 ||
        setup.ko >= game.shape().rows * game.shape().columns) {
      throw ConfigError("a serialised state: " + in_quotes(parts[2]) + " is not a ko point");
    }
  }
  return setup;
}

/// Removes the game's text from the front of a serialised state.
std::string_view after_game(const AnyGame& game, std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const std::string name = game.to_string();
  if (text.starts_with(name) && text.substr(name.size()).starts_with(';')) {
    return text.substr(name.size());
  }
  throw ConfigError("a serialised state: expected one of the game \"" + name + "\", got " +
                    in_quotes(text.substr(0, text.find(';'))));
}

}  // namespace

BoardSetup read_board(const AnyGame& game, std::span<const std::string> rows, int to_move,
                      std::string_view ko) {
  const GameShape& shape = game.shape();
  const std::string where = game.name() + ": state_from_board: ";
  if (!game.traits().has_stones)
    throw ConfigError(where + "a user's game has no board that we could set up");
  if (to_move != 0 && to_move != 1) {
    throw ConfigError(where + "player must be 0 or 1, got " + std::to_string(to_move));
  }
  if (rows.size() != static_cast<std::size_t>(shape.rows)) {
    throw ConfigError(where + "expected " + std::to_string(shape.rows) + " rows, got " +
                      std::to_string(rows.size()));
  }
  BoardSetup setup{.first = {}, .second = {}, .to_move = to_move, .ko = kNoAction};
  for (int row = 0; row < shape.rows; ++row) {
    const std::string& line = rows[static_cast<std::size_t>(row)];
    const std::string name = "row " + std::to_string(row);
    if (line.size() != static_cast<std::size_t>(shape.columns)) {
      throw ConfigError(where + name + ": expected " + std::to_string(shape.columns) +
                        " points, got " + std::to_string(line.size()) + " in " + in_quotes(line));
    }
    for (int column = 0; column < shape.columns; ++column) {
      const char stone = line[static_cast<std::size_t>(column)];
      const int point = row * shape.columns + column;
      if (stone == 'X' || stone == 'x') {
        setup.first.set(point);
      } else if (stone == 'O' || stone == 'o') {
        setup.second.set(point);
      } else if (stone != '.' && stone != '-') {
        throw ConfigError(where + name + ": expected X, O or ., got '" + stone + "' in " +
                          in_quotes(line));
      }
    }
  }
  if (ko.empty()) return setup;
  if (!game.traits().has_ko) throw ConfigError(where + "ko is only for Go, got " + in_quotes(ko));
  setup.ko = game.string_to_action(ko);
  if (setup.ko < 0 || setup.ko >= shape.rows * shape.columns) {
    throw ConfigError(where + "ko must be a point such as \"D4\", got " + in_quotes(ko));
  }
  return setup;
}

State::State(std::shared_ptr<const AnyGame> game, std::optional<BoardSetup> start)
    : game_(std::move(game)), start_(start), position_(first_position(*game_, start_)) {}

State::State(std::shared_ptr<const AnyGame> game, std::optional<BoardSetup> start,
             std::unique_ptr<AnyPosition> position, std::vector<ActionId> history)
    : game_(std::move(game)),
      start_(start),
      history_(std::move(history)),
      position_(std::move(position)) {}

State::State(const State& other)
    : game_(other.game_),
      start_(other.start_),
      history_(other.history_),
      position_(other.kept_position()->clone()) {
  position_->rethrow_if_failed();
}

void State::apply_action(Action action) {
  const auto before = position_;
  if (!before->is_legal(action)) {
    before->rethrow_if_failed();
    throw IllegalActionError(game_->name() + ": " + why_illegal(action));
  }
  history_.reserve(history_.size() + 1);
  if (game_->traits().has_stones) {
    before->play(action);
  } else {  // user code may fail midway, so it gets a copy
    auto next = before->clone();
    next->play(action);
    replace(before, std::move(next));
  }
  history_.push_back(static_cast<ActionId>(action));
}

std::string State::why_illegal(Action action) const {
  const int count = game_->shape().num_actions;
  std::string name = "action " + std::to_string(action);
  if (action < 0 || action >= count) {
    return name + " does not exist, expected 0.." + std::to_string(count - 1);
  }
  if (game_->traits().has_stones) name += " (" + game_->action_to_string(action) + ")";
  if (position_->outcome().has_value()) return name + " is not legal: the game is over";
  return name + " is not legal for player " + std::to_string(position_->to_move());
}

void State::undo_action() {
  if (history_.empty()) {
    throw ConfigError(game_->name() + ": undo_action: no action has been played since the start");
  }
  const auto before = position_;
  const std::vector<ActionId> kept(history_.begin(), history_.end() - 1);
  auto position = first_position(*game_, start_);
  for (const ActionId action : kept) position->play(action);
  replace(before, std::move(position));
  history_.pop_back();
}

void State::replace(const std::shared_ptr<AnyPosition>& before, std::unique_ptr<AnyPosition> next) {
  next->rethrow_if_failed();
  if (position_ != before) {
    throw EngineError(game_->name() + ": another thread has played on this state at the same time");
  }
  position_ = std::move(next);
}

bool operator==(const State& a, const State& b) {
  return a.history_ == b.history_ && a.start_ == b.start_ && same_game(*a.game_, *b.game_);
}

std::string State::serialize() const {
  std::string text = game_->to_string();
  if (start_.has_value()) text.append(kStart).append(write_setup(game_->shape(), *start_));
  text.append(kMoves);
  for (std::size_t i = 0; i < history_.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(history_[i]);
  }
  return text;
}

State State::deserialize(std::shared_ptr<const AnyGame> game, std::string_view text) {
  std::string_view rest = after_game(*game, text);
  std::optional<BoardSetup> start;
  if (rest.starts_with(kStart)) {
    rest.remove_prefix(kStart.size());
    const std::size_t end = rest.find(';');
    start = read_setup(*game, rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end);
  }
  if (!rest.starts_with(kMoves)) {
    throw ConfigError("a serialised state: expected \"" + std::string(kMoves.substr(1)) +
                      "\" with the actions, got " + in_quotes(rest));
  }
  State state(std::move(game), start);
  for (const std::string& action : split(rest.substr(kMoves.size()), ',')) {
    try {
      state.apply_action(read_int(action, "an action"));
    } catch (const IllegalActionError& error) {
      throw ConfigError("a serialised state: move " + std::to_string(state.history().size() + 1) +
                        ": " + error.what());
    }
  }
  return state;
}

}  // namespace pyengine
