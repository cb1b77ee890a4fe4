#include "base/files/whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tidepool {

Result<std::string> read_whole_file(const std::string& path) {
  const auto failed = [&](int code) {
    return io_error("cannot read " + path + ": " + std::generic_category().message(code));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failed(errno);
  std::string text;
  std::array<char, 16'384> part{};
  for (;;) {
    const ssize_t got = ::read(file, part.data(), part.size());
    const int code = got < 0 ? errno : 0;
    if (code == EINTR) continue;
    if (got > 0) {
      text.append(part.data(), static_cast<std::size_t>(got));
      continue;
    }
    ::close(file);
    return got == 0 ? Result<std::string>(std::move(text)) : failed(code);
  }
}

}  // namespace tidepool
