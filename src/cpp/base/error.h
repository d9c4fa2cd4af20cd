/// The errors of the package. Each says what was expected and what the caller passed.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace pyengine {

/// Base of every error that the engine raises on purpose.
class EngineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A parameter, a state or a call that does not fit; the message names the field.
class ConfigError : public EngineError {
 public:
  using EngineError::EngineError;
};

/// The action is not legal in this state, which is left as it was.
class IllegalActionError : public EngineError {
 public:
  using EngineError::EngineError;
};

/// A network that cannot be loaded or does not fit the game.
class ModelError : public EngineError {
 public:
  using EngineError::EngineError;
};

/// No error: ends what a thread does for a run that is to end. It does not leave the search.
class Interrupted final : public std::exception {};

/// An evaluator that failed while it evaluated positions.
class EvaluationError : public EngineError {
 public:
  using EngineError::EngineError;
};

}  // namespace pyengine
