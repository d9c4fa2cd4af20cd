/// A background thread for work that nobody waits for, such as returning memory.
#pragma once

#include <cstdint>
#include <functional>

namespace pyengine {

/// Which thread runs a task: those that wait for a device have one of their own, so that nobody who
/// waits for memory waits for a device.
enum class Background : std::uint8_t { memory, devices };

/// Runs `task` soon, on one thread of the process, in the order given. The task must not throw.
/// What is left at exit is run then. After fork() the child has a thread of its own.
void run_in_background(std::function<void()> task, Background where = Background::memory);

/// Returns when everything given so far has run there.
void wait_for_background(Background where = Background::memory);
/// The same of memory, for a caller who may not have the time: also once `goes_on`, which is asked
/// every few milliseconds and may throw, says no.
void wait_for_background(const std::function<bool()>& goes_on);

}  // namespace pyengine
