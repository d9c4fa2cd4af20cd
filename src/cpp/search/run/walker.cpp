#include "search/run/walker.h"

#include <typeinfo>

#include "base/error.h"
#include "base/type_table.h"
#include "games/list.h"
#include "search/run/walker_of.h"

namespace pyengine {
namespace {

TypeTable<MakeWalker>& makers() {
  static TypeTable<MakeWalker> table =
      table_by_position<MakeWalker>([]<Game G>() { return &make_walker_of<G>; });
  return table;
}

}  // namespace

bool add_walker(const std::type_info& position, MakeWalker make) {
  return makers().add(position, make);
}

std::unique_ptr<Walker> make_walker(const AnyPosition& root) {
  const MakeWalker make = makers().find(typeid(root));
  if (make == nullptr) throw EngineError("no walker for the game of this position");
  return make(root);
}

}  // namespace pyengine
