/// A background thread for work without a deadline, such as freeing memory.
#pragma once

#include <cstdint>
#include <functional>

namespace pyengine {

/// The thread that runs a task. Tasks that wait for a device have a separate thread, so that
/// waiting for memory never means waiting for a device.
enum class Background : std::uint8_t { memory, devices };

/// Runs `task` in the background, in order of submission. The task must not throw. Pending tasks
/// run at exit. After fork() the child has a new thread.
void run_in_background(std::function<void()> task, Background where = Background::memory);

/// Waits for all tasks submitted so far.
void wait_for_background(Background where = Background::memory);
/// The same for memory tasks, but also returns when `goes_on` returns false. It is called every few
/// milliseconds and may throw.
void wait_for_background(const std::function<bool()>& goes_on);

}  // namespace pyengine
