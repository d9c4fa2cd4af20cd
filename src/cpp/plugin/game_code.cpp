#include "plugin/game_code.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "plugin/fingerprint.h"

namespace pyengine {
namespace {

/// Values by name.
std::map<std::string, std::string> parts_of(const std::string& fingerprint) {
  std::map<std::string, std::string> parts;
  std::istringstream lines(fingerprint);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) parts[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return parts;
}

/// "headers: 1f3a there, 2b4c here; ..."
std::string differences(const std::string& there, const std::string& here) {
  std::string text;
  std::map<std::string, std::string> theirs = parts_of(there);
  for (const auto& [name, value] : parts_of(here)) {
    if (theirs[name] == value) continue;
    text += (text.empty() ? "" : "; ") + name + ": " + theirs[name] + " there, " + value + " here";
  }
  return text;
}

}  // namespace

void add_game(const GameCapsule& capsule, const std::string& python_abi) {
  const std::string own = fingerprint(python_abi);
  if (own != capsule.fingerprint) {
    throw ConfigError("the module was built for another pyengine (" +
                      differences(capsule.fingerprint, own) + "; it was built with " +
                      capsule.compiler + ", pyengine with " + kCompiler +
                      "): reinstall the game's package");
  }
  static std::mutex mutex;
  static std::set<const GameCode*> added;
  const std::lock_guard lock(mutex);
  const GameCode& code = *capsule.code;
  if (added.contains(&code)) return;
  const std::vector<std::string> names = registered_games();
  if (std::find(names.begin(), names.end(), code.name) != names.end()) {
    throw ConfigError("another game has the name " + in_quotes(code.name));
  }
  if (!add_walker(*code.position, code.make_walker)) {
    throw ConfigError("another game's class has the same name: put the class of " +
                      in_quotes(code.name) + " into a namespace of its own");
  }
  alphabeta::add_solver(*code.position, code.solve);
  add_game(code.name, code.load);
  added.insert(&code);
}

}  // namespace pyengine
