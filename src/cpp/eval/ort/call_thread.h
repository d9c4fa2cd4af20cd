/// A thread that makes calls for other threads, one at a time, in order of request.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace pyengine::ort {

class CallThread {
 public:
  CallThread();
  CallThread(const CallThread&) = delete;
  CallThread& operator=(const CallThread&) = delete;
  /// No thread may be waiting.
  ~CallThread();
  /// Returns when the thread has made the call; rethrows its exception.
  void run(const std::function<void()>& call);

 private:
  struct Request {
    const std::function<void()>& call;
    std::condition_variable finished;
    bool done = false;
    std::exception_ptr error;
  };

  void serve();

  std::mutex mutex_;
  std::condition_variable asked_;
  std::deque<Request*> requests_;  ///< guarded by mutex_
  bool ending_ = false;            ///< guarded by mutex_
  std::thread thread_;
};

}  // namespace pyengine::ort
