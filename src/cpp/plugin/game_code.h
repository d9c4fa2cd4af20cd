/// A game that is compiled outside the engine, as its module hands it over.
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>

#include "exact/alphabeta/solve_game.h"
#include "games/any/registry.h"
#include "search/run/walker.h"

namespace pyengine {

/// The parts of the engine that are compiled for a game.
struct GameCode {
  std::string_view name;
  LoadGame load;
  const std::type_info* position;  ///< the type that the functions below take
  MakeWalker make_walker;
  alphabeta::SolvePosition solve;
};

/// The contents of a module's capsule. The strings come first, because they tell whether `code` may
/// be read: it was compiled with the same headers, and all its types have the same layout.
struct GameCapsule {
  const char* fingerprint;  ///< see fingerprint.h
  const char* built_with;   ///< versions of pyengine and the compiler, for messages
  const GameCode* code;
};

/// Makes load_game(), searches and Solver accept the game. Adding the same code again does nothing.
/// Throws ConfigError if the fingerprint is not the engine's, the game is not called `name`, or
/// another game has the name or a class of that name. `python_abi`: of the engine's module.
void add_game(const GameCapsule& capsule, std::string_view name, const std::string& python_abi);

}  // namespace pyengine
