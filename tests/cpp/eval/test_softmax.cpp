/// The vectorised softmax compared with double precision on the same float differences.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/rng.h"
#include "eval/network/softmax.h"

using namespace pyengine;

namespace {

std::vector<double> exact_softmax(const std::vector<float>& numbers) {
  const float highest = *std::max_element(numbers.begin(), numbers.end());
  std::vector<double> result;
  for (const float x : numbers) result.push_back(std::exp(static_cast<double>(x - highest)));
  const double sum = std::accumulate(result.begin(), result.end(), 0.0);
  for (double& x : result) x /= sum;
  return result;
}

}  // namespace

TEST_CASE("softmax is within 3e-7 of its exact value at every length and width of logits") {
  Rng rng(0, 1);
  for (int count = 1; count <= 400; count += count < 40 ? 1 : 37) {
    for (const double deviation : {0.0, 0.1, 3.0, 20.0}) {
      std::vector<float> numbers(static_cast<std::size_t>(count));
      for (float& x : numbers) x = static_cast<float>(deviation * rng.normal());
      const std::vector<double> exact = exact_softmax(numbers);
      softmax(numbers);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (exact[i] < 1e-36) continue;
        CHECK(std::abs(numbers[i] / exact[i] - 1.0) < 3e-7);
      }
    }
  }
}

TEST_CASE("softmax of much lower logits is almost zero and finite") {
  std::vector<float> numbers = {0.0F, -88.0F, -1e30F, -3.4e38F};
  softmax(numbers);
  CHECK(numbers[0] == 1.0F);
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    CHECK(numbers[i] >= 0.0F);
    CHECK(numbers[i] < 1e-37F);
  }
}

TEST_CASE("softmax of -infinity is 0, and NaN if all are -infinity") {
  const float infinite = std::numeric_limits<float>::infinity();
  for (std::size_t count = 1; count <= 40; ++count) {
    std::vector<float> numbers(count, -infinite);
    softmax(numbers);
    for (const float x : numbers) CHECK(std::isnan(x));
    numbers.assign(count, -infinite);
    numbers[count / 2] = -3.0F;
    softmax(numbers);
    for (std::size_t i = 0; i < count; ++i) CHECK(numbers[i] == (i == count / 2 ? 1.0F : 0.0F));
  }
}

TEST_CASE("softmax of equal logits gives exactly equal shares") {
  for (const int count : {1, 2, 7, 16, 100, 361}) {
    std::vector<float> numbers(static_cast<std::size_t>(count), -2.5F);
    softmax(numbers);
    for (const float x : numbers) CHECK(x == 1.0F / static_cast<float>(count));
  }
}
