#include "schedctl/studies/run_pool.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "schedctl/words.hpp"

namespace tidepool::ctl {
namespace {

constexpr std::chrono::milliseconds kTick{200};
constexpr std::size_t kBarWidth = 24;

class Pool {
 public:
  explicit Pool(const PoolWork& work) : work_(work) {}

  void run() {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < work_.threads && i < work_.count; ++i) threads.emplace_back([this] { take_pieces(); });
    watch();
    threads.clear();  // joins
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void take_pieces() {
    for (;;) {
      std::unique_lock lock(mutex_);
      if (failure_ || next_ == work_.count) return;
      const std::size_t piece = next_++;
      lock.unlock();
      std::exception_ptr failure;
      try {
        work_.run(piece);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure && !failure_) failure_ = failure;
      ended_.push_back(piece);
      changed_.notify_one();
    }
  }

  void watch() {
    std::size_t done = 0;
    std::unique_lock lock(mutex_);
    while (done < work_.count && !failure_) {
      changed_.wait_for(lock, kTick, [&] { return !ended_.empty() || failure_; });
      std::deque<std::size_t> ended;
      if (!failure_) ended.swap(ended_);
      lock.unlock();
      for (const std::size_t piece : ended) {
        ++done;
        if (work_.on_done) work_.on_done(piece);
      }
      if (work_.on_tick) work_.on_tick(done);
      lock.lock();
    }
  }

  const PoolWork& work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  std::deque<std::size_t> ended_;
  std::exception_ptr failure_;
};

}  // namespace

void run_pool(const PoolWork& work) {
  Pool(work).run();
}

std::string progress_line(std::size_t done, std::size_t count, std::chrono::seconds since) {
  const std::size_t filled = count == 0 ? kBarWidth : done * kBarWidth / count;
  std::string line = "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '-') + "] ";
  line += std::to_string(done) + " of " + count_of(static_cast<double>(count), "run") + ", " +
          seconds_in_words(static_cast<double>(since.count()));
  if (done == 0 || done == count) return line;
  const double left =
      static_cast<double>(since.count()) * static_cast<double>(count - done) / static_cast<double>(done);
  return line + ", about " + seconds_in_words(left) + " left";
}

}  // namespace tidepool::ctl
