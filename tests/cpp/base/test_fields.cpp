#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/fields.h"
#include "search/config_fields.h"
#include "selfplay/config_fields.h"

namespace pyengine {
namespace {

struct Box {
  double share = 0.5;
  int count = 1;
  std::optional<double> weight;
  std::uint64_t seed = 0;
};

}  // namespace

template <>
struct Table<Box> {
  static constexpr const char* name = "Box";
  static constexpr std::tuple fields{
      field("share", &Box::share, Range{0, 1, true}, ""),
      field("count", &Box::count, at_least(1), ""),
      field("weight", &Box::weight, kPositive, ""),
      field("seed", &Box::seed, kAnyNumber, ""),
  };
};

TEST_CASE("fields: a range contains its bounds unless excluded, but no infinity") {
  CHECK(between(-2, 2).contains(-2));
  CHECK(between(-2, 2).contains(2));
  CHECK_FALSE(between(-2, 2).contains(2.1));
  CHECK_FALSE(kPositive.contains(0));
  CHECK(kNotNegative.contains(0));
  CHECK_FALSE(kPositive.contains(std::numeric_limits<double>::infinity()));
  CHECK_FALSE(kAnyNumber.contains(std::nan("")));
}

TEST_CASE("fields: an error names the first field out of range, its range and its value") {
  const auto refused = [](auto change, const char* message) {
    Box box;
    change(box);
    CHECK_THROWS_WITH_AS(check_fields(box), message, ConfigError);
  };
  CHECK_NOTHROW(check_fields(Box{}));
  refused([](Box& box) { box.count = 0; }, "count: expected an int in [1, 2**31 - 1], got 0");
  refused([](Box& box) { box.weight = 0; }, "weight: expected a number > 0, or None, got 0");
  refused([](Box& box) { box.share = 1.5, box.count = 0; },
          "share: expected a number in (0, 1], got 1.5");
  Box largest;
  largest.seed = std::numeric_limits<std::uint64_t>::max();
  CHECK_NOTHROW(check_fields(largest));
}

TEST_CASE("fields: messages and documentation show the same range") {
  const auto& seed = std::get<3>(Table<Box>::fields);
  CHECK(in_words(seed.expected()) == "an int in [0, 2**64 - 1]");
  CHECK(in_short(seed.expected()) == "int in [0, 2**64 - 1]");
  CHECK(in_short(std::get<2>(Table<Box>::fields).expected()) == "float > 0 or None");
  const auto& algorithm = std::get<2>(Table<SearchConfig>::fields);
  CHECK(in_words(algorithm.expected()) == "one of \"puct\", \"gumbel\", \"uct\", \"flat_ucb\"");
  CHECK(in_short(algorithm.expected()) == "\"puct\", \"gumbel\", \"uct\" or \"flat_ucb\"");
}

TEST_CASE("fields: the defaults of search and self-play are valid") {
  CHECK_NOTHROW(validate(SearchConfig{}));
  SelfPlayConfig config;
  CHECK_NOTHROW(settle(config));
  CHECK(config.search.simulations == kDefaultSimulations);
}

TEST_CASE("an exploration term that the algorithm lacks is refused") {
  SearchConfig config;
  config.algorithm = Algorithm::uct;
  config.exploration = Exploration::alphago;
  CHECK_THROWS_WITH_AS(validate(config), doctest::Contains("exploration: "), ConfigError);
  config.exploration = Exploration::log;
  CHECK_NOTHROW(validate(config));
}

}  // namespace pyengine
