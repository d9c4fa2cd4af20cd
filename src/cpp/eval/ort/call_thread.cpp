#include "eval/ort/call_thread.h"

namespace pyengine::ort {

CallThread::CallThread() : thread_([this] { serve(); }) {}

CallThread::~CallThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  asked_.notify_one();
  thread_.join();
}

void CallThread::run(const std::function<void()>& call) {
  Request request{call, {}, false, nullptr};
  std::unique_lock lock(mutex_);
  requests_.push_back(&request);
  asked_.notify_one();
  request.finished.wait(lock, [&] { return request.done; });
  if (request.error) std::rethrow_exception(request.error);
}

void CallThread::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_.wait(lock, [&] { return ending_ || !requests_.empty(); });
    if (requests_.empty()) return;
    Request& request = *requests_.front();
    requests_.pop_front();
    lock.unlock();
    std::exception_ptr error;
    try {
      request.call();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    request.error = std::move(error);
    request.done = true;
    request.finished
        .notify_one();  // under the lock: the request is destroyed when its owner gets it
  }
}

}  // namespace pyengine::ort
