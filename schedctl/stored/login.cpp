#include "schedctl/stored/login.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/json.hpp"
#include "schedctl/stored/environment.hpp"

namespace tidepool::ctl {
namespace {

Error no_writing(const std::string& path) {
  return io_error("cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace

std::string login_file() {
  std::string folder = environment("XDG_CONFIG_HOME");
  if (folder.empty() && !environment("HOME").empty()) folder = environment("HOME") + "/.config";
  return folder.empty() ? "" : folder + "/tidepool/login.json";
}

Result<std::optional<Login>> stored_login(const std::string& path) {
  struct stat info{};
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return std::optional<Login>();
  if ((info.st_mode & 077U) != 0) {
    return invalid_argument(path + " holds a token but others may read it; run: chmod 600 " + path);
  }
  std::ifstream file(path);
  const auto document = parse_json(std::string{std::istreambuf_iterator<char>(file), {}});
  const Error broken = invalid_argument(path + " is not what schedctl login writes; remove it and log in again");
  if (!document.ok()) return broken;
  std::vector<FieldError> errors;
  ObjectReader in(*document, "", errors);
  Login login{.url = in.required_text("url"), .token = in.required_text("token"), .ca = in.text("ca", "")};
  in.finish();
  if (!errors.empty()) return broken;
  return std::optional(std::move(login));
}

Status store_login(const std::string& path, const Login& login) {
  if (path.empty()) return invalid_argument("HOME is not set, so there is no place for the login; set it");
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder.parent_path(), failed);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return no_writing(folder.string());
  const std::string next = path + ".new";
  ::unlink(next.c_str());
  const int file = ::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return no_writing(next);
  const std::string text = canonical_json({{"url", login.url}, {"token", login.token}, {"ca", login.ca}}) + "\n";
  const bool written =
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(file) == 0;
  ::close(file);
  if (!written || std::rename(next.c_str(), path.c_str()) != 0) return no_writing(path);
  return ok_status();
}

}  // namespace tidepool::ctl
