#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "eval/network/encoder.h"
#include "eval/network/gomoku_features.h"
#include "eval/network/half.h"
#include "games/any/registry.h"
#include "games/any/state.h"

using namespace pyengine;

namespace {

std::vector<float> encoded(const ModelSpec& spec, const State& state, int symmetry = 0,
                           std::uint64_t* key = nullptr) {
  const Encoder encoder(spec, *state.game());
  ActionList legal;
  if (!state.position().outcome()) state.position().legal_actions(legal);
  PlaneStack planes;
  encoder.open(state.position(), legal, planes);
  if (key != nullptr) *key = planes.key[0] ^ planes.key[1];
  std::vector<float> row(encoder.shape().elements());
  encoder.write(planes, symmetry, ElementType::float32, reinterpret_cast<std::byte*>(row.data()));
  return row;
}

ModelSpec with_planes(std::vector<std::string> planes) {
  ModelSpec spec;
  spec.planes = std::move(planes);
  return spec;
}

/// One plane as text: 1 for one, . for zero, ? for anything else; rows are joined by /.
std::string plane_text(const std::string& plane, const State& state, ModelSpec spec = {}) {
  spec.planes = {plane};
  const std::vector<float> row = encoded(spec, state);
  std::string text;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0 && i % static_cast<std::size_t>(state.game()->shape().columns) == 0) text += '/';
    text += row[i] == 1.0F ? '1' : row[i] == 0.0F ? '.' : '?';
  }
  return text;
}

State played(const char* game, const ParamMap& params, const std::vector<Action>& moves) {
  State state(load_game(game, params));
  for (const Action move : moves) state.apply_action(move);
  return state;
}

/// A spec with every plane that the game supports.
ModelSpec all_planes(const AnyGame& game) {
  ModelSpec spec = gomoku17_spec();
  for (const char* name :
       {"own[0:8]", "opp[0:8]", "first[0:8]", "second[0:8]", "last[0:8]", "empty", "legal",
        "first_to_move", "second_to_move", "mover_sign", "ones", "zeros"}) {
    spec.planes.emplace_back(name);
  }
  if (game.traits().has_liberties) spec.planes.emplace_back("liberties[1:4]");
  if (game.traits().has_liberties) spec.planes.emplace_back("liberties[4+]");
  if (game.traits().has_area) spec.planes.insert(spec.planes.end(), {"own_area", "opp_area"});
  if (game.traits().has_ko) spec.planes.emplace_back("ko");
  return spec;
}

/// Plays the same random game on the original board and on the board under symmetry k.
void check_equivariance(const std::shared_ptr<const AnyGame>& game, int k, std::uint64_t seed) {
  const ModelSpec spec = all_planes(*game);
  const auto& map = game->symmetries().action[static_cast<std::size_t>(k)];
  State state(game);
  State moved(game);
  Rng rng(seed);
  ActionList legal;
  while (!state.position().outcome() && state.history().size() < 40) {
    state.position().legal_actions(legal);
    const Action action = legal[static_cast<int>(rng.below(static_cast<unsigned>(legal.size())))];
    state.apply_action(action);
    moved.apply_action(map[static_cast<std::size_t>(action)]);
    REQUIRE(encoded(spec, state, k) == encoded(spec, moved));
  }
}

}  // namespace

TEST_CASE("own and opp are the stones of the player to move and of the opponent, t plies ago") {
  // x to move:  x . .
  //             . o .
  //             . . .
  const State state = played("tic_tac_toe", {}, {0, 4});
  CHECK(plane_text("own[0]", state) == "1../.../...");
  CHECK(plane_text("opp[0]", state) == ".../.1./...");
  CHECK(plane_text("opp[1]", state) == ".../.../...");
  CHECK(plane_text("own[1]", state) == "1../.../...");
  CHECK(plane_text("own[2]", state) == ".../.../...");
  CHECK(plane_text("first[0]", state) == "1../.../...");
  CHECK(plane_text("last[0]", state) == ".../.1./...");
  CHECK(plane_text("last[1]", state) == "1../.../...");
  CHECK(plane_text("last[2]", state) == ".../.../...");
  CHECK(plane_text("empty", state) == ".11/1.1/111");
  CHECK(plane_text("legal", state) == ".11/1.1/111");
  CHECK(plane_text("first_to_move", state) == "111/111/111");
  CHECK(plane_text("second_to_move", state) == ".../.../...");
}

TEST_CASE("in Connect Four last is where the stone landed and legal where one would land") {
  const State state = played("connect_four", {{"rows", 4LL}, {"columns", 4LL}}, {1, 1, 1, 1, 3});
  CHECK(plane_text("last[0]", state) == "..../..../..../...1");
  CHECK(plane_text("last[1]", state) == ".1../..../..../....");
  CHECK(plane_text("last[4]", state) == "..../..../..../.1..");
  CHECK(plane_text("legal", state) == "..../..../...1/1.1.");
}

TEST_CASE("in Go a pass is a ply, liberties count chains and ko is the forbidden point") {
  const ParamMap params = {{"board_size", 4LL}};
  const State passed = played("go", params, {5, 16});
  CHECK(plane_text("own[1]", passed) == "..../.1../..../....");
  CHECK(plane_text("last[0]", passed) == "..../..../..../....");
  // . x o .    x captured at b3, and o must not recapture
  // x . x o
  // . x o .
  // . . . x
  const State ko = played("go", params, {1, 2, 4, 7, 9, 10, 15, 5, 6});
  CHECK(plane_text("ko", ko) == "..../.1../..../....");
  CHECK(plane_text("liberties[1]", ko) == "..1./..1./..../....");
  CHECK(plane_text("liberties[2+]", ko) == ".1../1..1/.11./...1");
}

TEST_CASE("in Go an area is stones plus the empty regions that touch no opponent's stone") {
  const ParamMap params = {{"board_size", 4LL}};
  // . x o .
  // x x o o
  // . . o .    the second player is to move; the empty region below touches both
  // . . . x
  const State state = played("go", params, {1, 2, 4, 6, 5, 7, 15, 10, 16});
  REQUIRE(state.position().to_move() == 1);
  CHECK(plane_text("own_area", state) == "..11/..11/..1./....");
  CHECK(plane_text("opp_area", state) == "11../11../..../...1");
  CHECK(plane_text("own_area", played("go", params, {})) == "..../..../..../....");
  CHECK(plane_text("opp_area", played("go", params, {0})) == "1111/1111/1111/1111");
}

TEST_CASE("mover_sign is +1 for the first player and -1 for the second") {
  const std::vector<std::string> planes = {"mover_sign"};
  CHECK(encoded(with_planes(planes), played("tic_tac_toe", {}, {})) == std::vector<float>(9, 1));
  CHECK(encoded(with_planes(planes), played("tic_tac_toe", {}, {0})) == std::vector<float>(9, -1));
}

TEST_CASE("bottom_up reverses the rows, and NHWC puts the planes last") {
  const State state = played("mnk", {{"rows", 2LL}, {"columns", 3LL}, {"k", 3LL}}, {0, 4});
  ModelSpec spec;
  spec.rows = "bottom_up";
  CHECK(plane_text("own[0]", state, spec) == ".../1..");
  ModelSpec last = with_planes({"own[0]", "opp[0]"});
  last.layout = "NHWC";
  CHECK(encoded(last, state) == std::vector<float>{1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0});
}

TEST_CASE("under a symmetry, every plane of a row shows the transformed position") {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    for (int k = 0; k < 8; ++k) {
      check_equivariance(load_game("go", {{"board_size", 5LL}}), k, seed);
      for (const long long size : {9LL, 20LL}) {
        check_equivariance(load_game("gomoku", {{"board_size", size}}), k, seed);
      }
      check_equivariance(load_game("tic_tac_toe"), k, seed);
    }
    for (const int k : {0, 3, 4, 7}) check_equivariance(load_game("othello"), k, seed);
    for (int k = 0; k < 4; ++k) {
      check_equivariance(load_game("mnk", {{"rows", 3LL}, {"columns", 5LL}, {"k", 4LL}}), k, seed);
    }
    for (int k = 0; k < 2; ++k) check_equivariance(load_game("connect_four"), k, seed);
  }
}

TEST_CASE("floats round to halves, and every half survives a round trip") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if ((half & 0x7C00U) == 0x7C00U && (half & 0x3FFU) != 0) continue;  // NaN
    REQUIRE(to_half(from_half(half)) == half);
  }
  CHECK(to_half(1.0F) == 0x3C00);
  CHECK(to_half(-2.0F) == 0xC000);
  CHECK(to_half(65504.0F) == 0x7BFF);
  CHECK(to_half(65520.0F) == 0x7C00);
  CHECK(to_half(1.0F + 0x1.0p-11F) == 0x3C00);  // ties to even
  CHECK(to_half(1.0F + 0x1.8p-10F) == 0x3C02);
  CHECK(to_half(0x1.0p-25F) == 0);
  CHECK(to_half(0x1.8p-24F) == 2);
  CHECK(std::isnan(from_half(to_half(std::nanf("")))));
  const State state = played("gomoku", {}, {112, 113, 97});
  const Encoder encoder(gomoku17_spec(), *state.game());
  PlaneStack planes;
  encoder.open(state.position(), {}, planes);
  std::vector<std::uint16_t> halves(encoder.shape().elements());
  encoder.write(planes, 5, ElementType::float16, reinterpret_cast<std::byte*>(halves.data()));
  const std::vector<float> floats = encoded(gomoku17_spec(), state, 5);
  for (std::size_t i = 0; i < floats.size(); ++i) REQUIRE(halves[i] == to_half(floats[i]));
}

TEST_CASE("planes of -1, 0 and 1 have the same values as int8") {
  const State state = played("go", {{"board_size", 9LL}}, {40, 41, 31});
  ModelSpec spec = all_planes(*state.game());
  std::erase_if(spec.planes, [](const std::string& name) { return name.starts_with("gomoku"); });
  for (const char* layout : {"NCHW", "NHWC"}) {
    spec.layout = layout;
    const Encoder encoder(spec, *state.game());
    REQUIRE(encoder.fits_int8());
    PlaneStack planes;
    ActionList legal;
    state.position().legal_actions(legal);
    encoder.open(state.position(), legal, planes);
    std::vector<std::int8_t> bytes(encoder.shape().elements());
    encoder.write(planes, 3, ElementType::int8, reinterpret_cast<std::byte*>(bytes.data()));
    const std::vector<float> floats = encoded(spec, state, 3);
    CHECK(std::equal(bytes.begin(), bytes.end(), floats.begin(), floats.end()));
  }
  CHECK_FALSE(Encoder(gomoku17_spec(), *load_game("gomoku")).fits_int8());
}

TEST_CASE("equal planes have equal keys, and different planes different ones") {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  const ModelSpec now = with_planes({"own[0]", "opp[0]", "first_to_move"});
  encoded(now, played("tic_tac_toe", {}, {0, 4, 8}), 0, &a);
  encoded(now, played("tic_tac_toe", {}, {8, 4, 0}), 0, &b);
  encoded(now, played("tic_tac_toe", {}, {8, 4, 1}), 0, &c);
  CHECK(a == b);
  CHECK(a != c);
  const ModelSpec past = with_planes({"own[0]", "opp[0]", "opp[2]"});
  encoded(past, played("tic_tac_toe", {}, {0, 4, 8}), 0, &a);
  encoded(past, played("tic_tac_toe", {}, {8, 4, 0}), 0, &b);
  CHECK(a != b);
}

TEST_CASE("the Gomoku features match values computed by hand") {
  //     a b c d e
  // 0   x x o . .     o to move; x last at b0, before it o at c0
  // 1   . . . . .
  const auto game = load_game("mnk", {{"rows", 2LL}, {"columns", 5LL}, {"k", 5LL}});
  State state(game);
  for (const Action move : {0, 2, 1}) state.apply_action(move);
  const auto value = [&](const char* feature, int point) {
    return encoded(with_planes({feature}), state)[static_cast<std::size_t>(point)];
  };
  CHECK(value("gomoku_stone", 0) == 1.0F);
  CHECK(value("gomoku_stone", 2) == 2.0F);
  CHECK(value("gomoku_stone", 3) == -1.0F);
  CHECK(value("gomoku_line_horizontal", 0) == 2.0F / 5.0F);
  CHECK(value("gomoku_line_vertical", 0) == 1.0F / 5.0F);
  CHECK(value("gomoku_line_diagonal", 3) == 0.0F);
  CHECK(value("gomoku_blocked_n", 0) == 1.0F);    // the edge
  CHECK(value("gomoku_blocked_e", 0) == 0.0F);    // a stone of the same colour
  CHECK(value("gomoku_blocked_e", 1) == 1.0F);    // the other colour
  CHECK(value("gomoku_blocked_s", 1) == 0.0F);    // empty
  CHECK(value("gomoku_blocked_se", 4) == -1.0F);  // the point is empty
  CHECK(value("gomoku_distance", 7) == doctest::Approx(1.0 / (14.0 * std::sqrt(2.0))));
  CHECK(value("gomoku_near_first", 0) == 2.0F / 15.0F);
  CHECK(value("gomoku_near_second", 0) == 1.0F / 15.0F);
  CHECK(value("gomoku_near_empty", 0) == 5.0F / 15.0F);  // 2 x 4 points are on the board
  CHECK(value("gomoku_near_first", 4) == 1.0F / 15.0F);
  CHECK(encoded(with_planes({"gomoku_distance"}), played("gomoku", {}, {0}))[3] == -1.0F);
}

TEST_CASE("a plane that the game does not support is rejected by name") {
  const auto refused = [](const char* plane, const char* game) {
    try {
      const Encoder encoder(with_planes({plane}), *load_game(game));
    } catch (const ModelError& error) {
      return std::string(error.what()).find(plane) != std::string::npos;
    }
    return false;
  };
  CHECK(refused("liberties[1]", "gomoku"));
  CHECK(refused("own_area", "othello"));
  CHECK(refused("ko", "othello"));
  CHECK(refused("observation", "connect_four"));
}
