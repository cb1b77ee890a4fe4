#include "workers/agent/program_files/newest_line.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {

std::string whole_lines(const std::filesystem::path& path, std::size_t bytes_max) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat facts{};
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  std::string text(bytes_max, '\0');
  const off_t begin = std::max<off_t>(0, facts.st_size - static_cast<off_t>(text.size()));
  const ssize_t length = ::pread(file.get(), text.data(), text.size(), begin);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos) return {};
  const std::size_t first_end = text.find('\n');
  const std::size_t first = begin > 0 && first_end != end ? first_end + 1 : 0;
  return text.substr(first, end - first);
}

std::string_view take_last_line(std::string_view& lines) {
  const std::size_t before = lines.rfind('\n');
  const std::string_view last = before == std::string_view::npos ? lines : lines.substr(before + 1);
  lines = before == std::string_view::npos ? std::string_view() : lines.substr(0, before);
  return last;
}

std::string newest_line(const std::filesystem::path& path, std::size_t bytes_max) {
  const std::string lines = whole_lines(path, bytes_max);
  std::string_view left = lines;
  return std::string(take_last_line(left));
}

}  // namespace tidepool::agent
