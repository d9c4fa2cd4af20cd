/// The errors of the package.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace pyengine {

/// Errors pass between the engine and the modules of games, which must agree on their types.
#if defined(_MSC_VER)
#define PYENGINE_SHARED_TYPE
#else
#define PYENGINE_SHARED_TYPE __attribute__((visibility("default")))
#endif

/// Base of all errors of the engine.
class PYENGINE_SHARED_TYPE EngineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An invalid parameter, state or call.
class PYENGINE_SHARED_TYPE ConfigError : public EngineError {
 public:
  using EngineError::EngineError;
};

/// An illegal action. The state is unchanged.
class PYENGINE_SHARED_TYPE IllegalActionError : public EngineError {
 public:
  using EngineError::EngineError;
};

/// A network that cannot be loaded or does not fit the game.
class PYENGINE_SHARED_TYPE ModelError : public EngineError {
 public:
  using EngineError::EngineError;
};

/// Not an error: unwinds the work of a thread whose run is ending. It is caught inside the search.
class Interrupted final : public std::exception {};

/// An evaluator failed while evaluating positions.
class PYENGINE_SHARED_TYPE EvaluationError : public EngineError {
 public:
  using EngineError::EngineError;
};

}  // namespace pyengine
