/// A background thread for work that nobody waits for, such as returning memory.
#pragma once

#include <functional>

namespace pyengine {

/// Runs `task` soon, on one thread of the process, in the order given. The task must not throw.
/// What is left at exit is run then. After fork() the child has a thread of its own.
void run_in_background(std::function<void()> task);

/// Returns when everything given so far has run.
void wait_for_background();

}  // namespace pyengine
