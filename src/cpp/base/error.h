/// The errors of the package.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace pyengine {

/// Base of all errors of the engine.
class EngineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An invalid parameter, state or call.
class ConfigError : public EngineError {
 public:
  using EngineError::EngineError;
};

/// An illegal action. The state is unchanged.
class IllegalActionError : public EngineError {
 public:
  using EngineError::EngineError;
};

/// A network that cannot be loaded or does not fit the game.
class ModelError : public EngineError {
 public:
  using EngineError::EngineError;
};

/// Not an error: unwinds the work of a thread whose run is ending. It is caught inside the search.
class Interrupted final : public std::exception {};

/// An evaluator failed while evaluating positions.
class EvaluationError : public EngineError {
 public:
  using EngineError::EngineError;
};

}  // namespace pyengine
