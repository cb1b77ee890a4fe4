#include "workers/agent/program_files/line_watch.hpp"

#include <utility>
#include <vector>

#include "workers/agent/program_files/newest_line.hpp"

namespace tidepool::agent {

void LineWatch::watch(WorkerId worker, const std::filesystem::path& file) {
  watched_[worker] = {.file = file, .read = {}};
  if (!std::exchange(looks_, true)) look_later();
}

void LineWatch::take_again() {
  for (auto& [worker, watched] : watched_) watched.read.clear();
}

void LineWatch::look_later() {
  timer_.expires_after(look_.every);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    // The handlers may change the list.
    std::vector<WorkerId> workers;
    for (const auto& [worker, watched] : watched_) workers.push_back(worker);
    for (const WorkerId worker : workers) {
      if (const auto found = watched_.find(worker); found != watched_.end()) look(worker, found->second);
    }
    looks_ = !watched_.empty();
    if (looks_) look_later();
  });
}

void LineWatch::look(WorkerId worker, Watched& watched) {
  const std::string lines = whole_lines(watched.file, look_.bytes_max);
  if (lines.empty() || lines == watched.read) return;
  watched.read = lines;
  on_lines_(worker, lines);
}

}  // namespace tidepool::agent
