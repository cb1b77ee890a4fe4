#include "workers/agent/program_files/newest_line.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {

std::string newest_line(const std::filesystem::path& path, std::size_t bytes_max) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat facts{};
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  std::string text(bytes_max, '\0');
  const off_t begin = std::max<off_t>(0, facts.st_size - static_cast<off_t>(text.size()));
  const ssize_t length = ::pread(file.get(), text.data(), text.size(), begin);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos) return {};
  const std::size_t before = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  return text.substr(first, end - first);
}

}  // namespace tidepool::agent
