/// The neighbour queries of Go playouts, compared with counting one by one.
#include <doctest/doctest.h>

#include <initializer_list>

#include "games/go/near.h"

using namespace pyengine;

namespace {

/// How many of the neighbours first .. first + 3 are `what`.
unsigned count_near(unsigned near, unsigned what, unsigned first) {
  unsigned count = 0;
  for (unsigned neighbour = first; neighbour < first + 4; ++neighbour) {
    count += ((near >> 2 * neighbour) & 3U) == what ? 1U : 0U;
  }
  return count;
}

}  // namespace

TEST_CASE("Go neighbours: counts and eyes are right for all 65536 configurations") {
  for (unsigned near = 0; near < 65536; ++near) {
    const unsigned empty = count_near(near, 0, 0);
    const unsigned border = count_near(near, 3, 0);
    REQUIRE(go_near::count(go_near::empties(near)) == empty);
    REQUIRE(go_near::count(go_near::borders(near)) == border);
    for (const unsigned own : {1U, 2U}) {
      const unsigned other = 3 - own;
      const unsigned friends = count_near(near, own, 0);
      REQUIRE(go_near::count(go_near::stones(near, own)) == friends);
      const unsigned hostile = count_near(near, other, 4);
      const bool sound = border == 0 ? hostile <= 1 : hostile == 0;
      REQUIRE(go_near::is_eye(near, own) == (friends + border == 4 && sound));
    }
  }
}
