#include "schedctl/studies/file_text.hpp"

#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "schedctl/failure.hpp"
#include "schedctl/session.hpp"

namespace tidepool::ctl {

std::string read_text_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) fail(kExitUsage, path + " is a folder; give a file");
  const auto close = [](gzFile file) { (void)gzclose(file); };
  std::unique_ptr<gzFile_s, decltype(close)> file(
      path == "-" ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path.c_str(), "rb"), close);
  if (!file) fail(kExitUsage, path + " cannot be read: " + std::strerror(errno));
  std::string text;
  std::vector<char> part(std::size_t{1} << 20U);
  for (;;) {
    const int read = gzread(file.get(), part.data(), static_cast<unsigned>(part.size()));
    if (read < 0) fail(kExitUsage, path + " cannot be unpacked: its compressed content is damaged");
    if (read == 0 && gzclose_r(file.release()) == Z_BUF_ERROR) {
      fail(kExitUsage, path + " cannot be unpacked: it ends in the middle; copy it once more, whole");
    }
    if (read == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(read));
    if (text.size() > kFileBytesMax) fail(kExitUsage, path + " is larger than 512 MiB");
  }
}

void require_apart(const std::vector<std::string>& written, const std::vector<std::string>& read) {
  const auto is_one = [](const std::string& path, const std::string& other) {
    if (path.empty() || path == "-" || other.empty() || other == "-") return false;
    std::error_code error;
    if (std::filesystem::exists(path, error)) {
      return std::filesystem::is_regular_file(path, error) && std::filesystem::equivalent(path, other, error);
    }
    return std::filesystem::absolute(path).lexically_normal() == std::filesystem::absolute(other).lexically_normal();
  };
  for (std::size_t i = 0; i < written.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (is_one(written[i], written[j])) fail(kExitUsage, written[i] + " would be written twice; give two files");
    }
    for (const std::string& path : read) {
      std::error_code error;  // a policy's name may be no file
      if (std::filesystem::exists(path, error) && is_one(written[i], path))
        fail(kExitUsage, written[i] + " is read by this command; write to another file");
    }
  }
}

void require_writable(const std::string& path) {
  if (path.empty() || path == "-") return;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) fail(kExitUsage, path + " is a folder; give a file");
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const bool there = std::filesystem::exists(path, error);
  const std::string looked_at = there ? path : folder.empty() ? "." : folder.string();
  if (access(looked_at.c_str(), W_OK) != 0) {
    fail(kExitUsage, path + " cannot be written: " + looked_at + ": " + std::strerror(errno));
  }
}

void write_text_file(const std::string& path, const std::string& text) {
  if (path == "-") return write_out(text);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) fail(kExitUsage, path + " cannot be written; check its folder and the space left");
}

}  // namespace tidepool::ctl
