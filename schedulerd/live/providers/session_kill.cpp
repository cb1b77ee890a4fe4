#include "schedulerd/live/providers/session_kill.hpp"

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/number_text.hpp"

namespace tidepool::live {
namespace {

namespace fs = std::filesystem;
constexpr int kRoundsMost = 200;
constexpr std::chrono::milliseconds kBetween{5};

// proc(5): "pid (comm) state ppid pgrp session ..."; comm may have any letter. False also of what only awaits its
// parent's look.
bool lives_in(pid_t session, const fs::path& process) {
  std::ifstream file(process / "stat");
  std::string text;
  std::getline(file, text, '\0');
  const auto comm_end = text.rfind(')');
  if (comm_end == std::string::npos) return false;
  std::istringstream words(text.substr(comm_end + 1));
  char state = 'X';
  pid_t parent = 0, group = 0, own = 0;
  words >> state >> parent >> group >> own;
  return words && own == session && state != 'Z' && state != 'X';
}

std::vector<pid_t> living(pid_t session) {
  std::vector<pid_t> found;
  std::error_code error;
  fs::directory_iterator entry("/proc", error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const auto pid = parse_number<pid_t>(entry->path().filename().string());
    if (pid && lives_in(session, entry->path())) found.push_back(*pid);
  }
  return found;
}

}  // namespace

void kill_session(pid_t leader) {
  ::kill(-leader, SIGKILL);
  // Again, because one that was started while the others were looked at is not among them.
  for (int round = 0; round < kRoundsMost; ++round) {
    const std::vector<pid_t> left = living(leader);
    if (left.empty()) return;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(kBetween);
  }
}

}  // namespace tidepool::live
