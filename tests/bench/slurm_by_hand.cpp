#include "tests/bench/slurm_by_hand.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tidepool::bench {
namespace {

constexpr int kPort = 16'840;

bool is_installed() {
  for (const char* program : {"munged", "slurmctld", "slurmrestd"}) {
    if (!std::filesystem::exists(std::string("/usr/sbin/") + program)) return false;
  }
  return std::filesystem::exists("/usr/bin/scontrol");
}

}  // namespace

std::unique_ptr<SlurmByHand> SlurmByHand::start(const std::string& mode) {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  if (!is_installed() || geteuid() != 0) return nullptr;
  std::unique_ptr<SlurmByHand> slurm(new SlurmByHand);
  slurm->launch(std::string(source == nullptr ? "." : source) + "/tests/bench/slurm_by_hand", mode);
  return slurm;
}

void SlurmByHand::launch(const std::string& script, const std::string& mode) {
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  // slurmrestd is another user and reads its configuration there.
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  const std::string folder = folder_.path();
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execl(script.c_str(), script.c_str(), folder.c_str(), std::to_string(kPort).c_str(), mode.c_str(), nullptr);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  input_ = in[1];
  std::string line;
  char c = 0;
  while (read(out[0], &c, 1) == 1 && c != '\n') line += c;
  close(out[0]);
  if (line.empty())
    throw std::runtime_error("Slurm has not started; of Debian's packages it needs slurm-wlm-jwt-plugin, too");
  const auto ready = nlohmann::json::parse(line);
  port_ = ready.at("port").get<unsigned short>();
  token_ = ready.at("token").get<std::string>();
}

SlurmByHand::~SlurmByHand() {
  if (input_ >= 0) close(input_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

}  // namespace tidepool::bench
