#include "search/run/walker.h"

#include <tuple>
#include <type_traits>
#include <typeinfo>

#include "base/error.h"
#include "base/type_table.h"
#include "games/list.h"
#include "search/run/walker_of.h"

namespace pyengine {
namespace {

class Makers {
 public:
  Makers() {
    const auto add_all = [this]<class... G>(std::type_identity<std::tuple<G...>>) {
      (table.add(typeid(PositionOf<G>), &make_walker_of<G>), ...);
    };
    add_all(std::type_identity<GameTypes>{});
  }
  TypeTable<MakeWalker> table;  ///< by the type of a position
};

Makers& makers() {
  static Makers all;
  return all;
}

}  // namespace

bool add_walker(const std::type_info& position, MakeWalker make) {
  return makers().table.add(position, make);
}

std::unique_ptr<Walker> make_walker(const AnyPosition& root) {
  const MakeWalker make = makers().table.find(typeid(root));
  if (make == nullptr) throw EngineError("no walker for the game of this position");
  return make(root);
}

}  // namespace pyengine
