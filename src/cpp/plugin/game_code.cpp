#include "plugin/game_code.h"

#include <map>
#include <mutex>
#include <sstream>
#include <string>

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
  std::ostringstream text;
  std::map<std::string, std::string> theirs = parts_of(there);
  const char* separator = "";
  for (const auto& [name, value] : parts_of(here)) {
    if (theirs[name] == value) continue;
    text << separator << name << ": " << theirs[name] << " there, " << value << " here";
    separator = "; ";
  }
  return text.str();
}

}  // namespace

void add_game(const GameCapsule& capsule, std::string_view name, const std::string& python_abi) {
  const std::string own = fingerprint(python_abi);
  if (own != capsule.fingerprint) {
    throw ConfigError("the module was built for another pyengine (" +
                      differences(capsule.fingerprint, own) + "; it was built with " +
                      capsule.built_with + ", this is " + kBuiltWith +
                      "): reinstall the game's package");
  }
  const GameCode& code = *capsule.code;
  if (code.name != name) {
    throw ConfigError("expected the game " + in_quotes(name) + ", got " + in_quotes(code.name));
  }
  static std::mutex mutex;
  static std::map<std::string, const GameCode*> added;  // by the name of the class
  const std::lock_guard lock(mutex);
  const auto [known, is_new] = added.try_emplace(code.position->name(), &code);
  if (!is_new) {
    if (known->second == &code) return;
    throw ConfigError("the class of the game " + in_quotes(known->second->name) +
                      " has the same name as this one: put one of them into another namespace");
  }
  if (!add_game(code.name, code.load)) {
    added.erase(known);
    throw ConfigError("another game has the name " + in_quotes(name));
  }
  add_walker(*code.position, code.make_walker);
  alphabeta::add_solver(*code.position, code.solve);
}

}  // namespace pyengine
