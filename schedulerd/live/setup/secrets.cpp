#include "schedulerd/live/setup/secrets.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/check.hpp"
#include "base/files/whole_file.hpp"

namespace tidepool::live {
namespace {

std::string hex_text(const unsigned char* bytes, std::size_t count) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(count * 2);
  for (std::size_t i = 0; i < count; ++i) {
    hex += kDigits[bytes[i] >> 4U];
    hex += kDigits[bytes[i] & 0xfU];
  }
  return hex;
}

}  // namespace

std::string random_hex(std::size_t bytes) {
  std::vector<unsigned char> random(bytes);
  TP_CHECK(::getentropy(random.data(), random.size()) == 0, "the system's random source answers");
  return hex_text(random.data(), random.size());
}

std::string sha256_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int size = 0;
  TP_CHECK(EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(), nullptr) == 1, "SHA-256 is there");
  return hex_text(hash.data(), size);
}

bool equal_in_constant_time(std::string_view left, std::string_view right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

TokenText new_token() {
  return {random_hex(6), random_hex(24)};
}

std::optional<TokenText> parse_token(std::string_view text) {
  if (!text.starts_with("tp_")) return std::nullopt;
  const auto last = text.rfind('_');
  if (last <= 3 || last + 1 == text.size()) return std::nullopt;
  return TokenText{.id = std::string(text.substr(3, last - 3)), .secret = std::string(text.substr(last + 1))};
}

Result<std::string> read_secret_file(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return not_found("cannot read " + path + ": " + std::strerror(errno));
  if ((info.st_mode & 077U) != 0) {
    return invalid_argument(path + " holds a secret but others may read it; run: chmod 600 " + path);
  }
  auto read = read_whole_file(path);
  if (!read.ok()) return invalid_argument(read.error().message);
  std::string text = *std::move(read);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (text.empty()) return invalid_argument(path + " is empty; remove it to have a new one made");
  return text;
}

Status write_secret_file(const std::string& path, std::string_view text) {
  const std::string next = path + ".new";
  const int file = ::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return io_error("cannot write " + next + ": " + std::strerror(errno));
  const std::string line = std::string(text) + "\n";
  const bool written =
      ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) && ::fsync(file) == 0;
  const std::string why = written ? "" : std::strerror(errno);
  ::close(file);
  if (!written) return io_error("cannot write " + next + ": " + why);
  if (std::rename(next.c_str(), path.c_str()) != 0) {
    return io_error("cannot write " + path + ": " + std::strerror(errno));
  }
  return ok_status();
}

}  // namespace tidepool::live
