#include "workers/trainer/data_files.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace tidepool::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kBytesMax = 1ULL << 32U;

struct DataFile {
  fs::path path;
  bool named = false;  // by the user, not found in a folder
};

Result<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return io_error("cannot read the data file " + path.string() + ": check its permissions");
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void add_folder(const fs::path& folder, std::vector<DataFile>& files) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->path().filename().string().starts_with('.')) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file(error)) {
      files.push_back({at->path(), false});
    }
  }
}

Result<std::vector<DataFile>> find_files(const fs::path& folder, const std::vector<std::string>& paths) {
  std::vector<DataFile> files;
  for (const std::string& path : paths) {
    const fs::path full = folder / path;
    std::error_code error;
    const fs::file_status status = fs::status(full, error);
    if (fs::is_directory(status)) {
      add_folder(full, files);
    } else if (fs::exists(status)) {
      files.push_back({full, true});
    } else {
      return not_found("data file " + path + " does not exist (looked in " + folder.string() + ")");
    }
  }
  std::sort(files.begin(), files.end(), [](const DataFile& a, const DataFile& b) { return a.path < b.path; });
  const auto same = [](const DataFile& a, const DataFile& b) { return a.path == b.path; };
  files.erase(std::unique(files.begin(), files.end(), same), files.end());
  return files;
}

}  // namespace

Result<std::string> read_data_files(const fs::path& folder, const std::vector<std::string>& paths) {
  const auto files = find_files(folder, paths);
  if (!files.ok()) return files.error();
  std::string text;
  for (const DataFile& file : *files) {
    auto content = read_file(file.path);
    if (!content.ok()) return content.error();
    const bool binary = content->find('\0') != std::string::npos;
    if (binary && !file.named) continue;
    if (text.size() + content->size() > kBytesMax) {
      return Error{ErrorCode::kLimitExceeded, "the data is larger than 4 GiB: name fewer files"};
    }
    text += *content;
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  if (text.empty()) return invalid_argument("the data is empty: name a file with content");
  return text;
}

}  // namespace tidepool::trainer
