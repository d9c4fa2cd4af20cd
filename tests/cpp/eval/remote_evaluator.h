/// A minimal remote evaluator: a server on another thread replies after a delay, or fails.
/// Questions and replies are plain values, as they would be on a socket.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "eval/evaluator.h"

namespace pyengine::remote_test {

struct Question {
  std::uint64_t position = 0;  ///< hash
  std::vector<ActionId> legal;
};
struct Reply {
  std::vector<float> priors;
  float value = 0.0F;
};
using AnswerFunction = std::function<Reply(const Question&)>;

/// Answers messages, each with several questions, one after the other.
class Server {
 public:
  Server(AnswerFunction answer, std::chrono::microseconds delay)
      : answer_(std::move(answer)), delay_(delay), thread_([this] { serve(); }) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    arrived_.notify_all();
    thread_.join();
  }

  std::future<std::vector<Reply>> send(std::vector<Question> questions) {
    const std::lock_guard lock(mutex_);
    messages_.push_back({std::move(questions), {}});
    arrived_.notify_all();
    return messages_.back().reply.get_future();
  }

  std::atomic<bool> down{false};  ///< rejects all messages

 private:
  struct Message {
    std::vector<Question> questions;
    std::promise<std::vector<Reply>> reply;
  };

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      arrived_.wait(lock, [&] { return closing_ || !messages_.empty(); });
      if (closing_) return;
      Message message = std::move(messages_.front());
      messages_.pop_front();
      lock.unlock();
      answer(message);
      lock.lock();
    }
  }
  void answer(Message& message) {
    std::this_thread::sleep_for(delay_);
    if (down) {
      message.reply.set_exception(
          std::make_exception_ptr(EvaluationError("the server does not answer")));
      return;
    }
    std::vector<Reply> replies;
    for (const Question& question : message.questions) replies.push_back(answer_(question));
    message.reply.set_value(std::move(replies));
  }

  AnswerFunction answer_;
  std::chrono::microseconds delay_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Message> messages_;  ///< guarded by mutex_
  bool closing_ = false;          ///< guarded by mutex_
  std::thread thread_;
};

struct RemoteBatch final : EvalBatch {
  explicit RemoteBatch(int rows) : EvalBatch(rows), questions(leaves.size()) {}
  std::vector<Question> questions;  ///< [capacity]: parallel to `leaves`
  std::vector<Reply> replies;
};

class BoundRemote final : public BoundEvaluator {
 public:
  explicit BoundRemote(std::shared_ptr<Server> server) : server_(std::move(server)) {}

  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    return {.runs_on = on_device(2)};
  }
  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    return std::make_unique<RemoteBatch>(capacity);
  }
  int request(EvalBatch& asked, const AnyPosition& position) override {
    auto& batch = static_cast<RemoteBatch&>(asked);
    const ActionList& legal = batch.next().legal;
    Question& question = batch.questions[static_cast<std::size_t>(batch.num_leaves)];
    question.position = position.hash();
    question.legal.assign(legal.begin(), legal.end());
    return 1;
  }
  void evaluate(EvalBatch& asked) override {
    auto& batch = static_cast<RemoteBatch&>(asked);
    const auto waiting = batch.questions.begin() + batch.num_leaves;
    batch.replies = server_->send({batch.questions.begin(), waiting}).get();
  }
  void decode(EvalBatch& asked) override {
    auto& batch = static_cast<RemoteBatch&>(asked);
    for (std::size_t i = 0; i < batch.replies.size(); ++i) {
      batch.leaves[i].priors = batch.replies[i].priors;
      batch.leaves[i].value = batch.replies[i].value;
    }
  }

 private:
  std::shared_ptr<Server> server_;
};

class RemoteEvaluator final : public Evaluator {
 public:
  explicit RemoteEvaluator(std::shared_ptr<Server> server) : server_(std::move(server)) {}
  [[nodiscard]] int device_batches() const noexcept override { return 2; }
  [[nodiscard]] std::string provider() const override { return "remote"; }
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame>,
                                       const BindOptions&) override {
    return std::make_unique<BoundRemote>(server_);
  }

 private:
  std::shared_ptr<Server> server_;
};

}  // namespace pyengine::remote_test
