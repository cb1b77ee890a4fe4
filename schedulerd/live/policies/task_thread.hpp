// A thread that runs tasks one after another. Policy hosts end with the thread that starts them, so all work with a
// host runs on such a thread, and nothing that must not block waits for one.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace tidepool::live {

class TaskThread {
 public:
  using Task = std::function<void()>;

  TaskThread() : thread_([this] { run(); }) {}
  ~TaskThread() { stop(); }
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  // False if it is stopping or `limit` tasks wait already; the task is then not done.
  [[nodiscard]] bool post(Task task, std::size_t limit = 64) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_ || tasks_.size() >= limit) return false;
      tasks_.push_back(std::move(task));
    }
    filled_.notify_one();
    return true;
  }

  // Finishes the task under way and drops the others, on the thread itself. Idempotent.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    filled_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    while (true) {
      Task task;
      {
        std::unique_lock lock(mutex_);
        filled_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
        if (stopping_) break;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
    const std::lock_guard lock(mutex_);
    tasks_.clear();
  }

  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Task> tasks_;
  bool stopping_ = false;
  std::thread thread_;  // last, so that it finds everything else made
};

}  // namespace tidepool::live
