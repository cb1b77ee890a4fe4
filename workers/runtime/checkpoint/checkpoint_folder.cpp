#include "workers/runtime/checkpoint/checkpoint_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <set>
#include <system_error>

#include "base/digest.hpp"
#include "workers/runtime/checkpoint/file_io.hpp"

namespace tidepool::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".tidepool";
constexpr std::string_view kUnfinished = ".unfinished";
constexpr std::string_view kStepMark = ".step-";
constexpr std::size_t kCopyBytes = 4U << 20U;

struct Entry {
  fs::path path;
  CheckpointName name;
};

std::vector<Entry> entries_of(const fs::path& folder, const std::string& tag) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    auto name = CheckpointName::parse(it->path().filename().string());
    if (name && name->tag == tag && !it->is_symlink()) entries.push_back({it->path(), *std::move(name)});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.name.step != b.name.step ? a.name.step > b.name.step : a.name.worker < b.name.worker;
  });
  return entries;
}

// Replaces the link in one rename. Only people read it, and not all file systems support links: without a link the
// state is kept all the same, and no link to an earlier state stays.
void point_latest_at(const fs::path& folder, const std::string& file_name) {
  const fs::path latest = folder / kLatestName;
  const fs::path fresh = folder / (std::string(kLatestName) + "." + file_name + std::string(kUnfinished));
  std::error_code ignored;
  fs::remove(fresh, ignored);
  if (::symlink(file_name.c_str(), fresh.c_str()) == 0 && ::rename(fresh.c_str(), latest.c_str()) == 0) return;
  fs::remove(fresh, ignored);
  fs::remove(latest, ignored);
}

Status copy_bytes(const fs::path& from, const fs::path& to) {
  auto source = open_for_reading(from);
  if (!source.ok()) return source.error();
  auto target = create_file(to);
  if (!target.ok()) return target.error();
  std::vector<std::byte> buffer(kCopyBytes);
  for (;;) {
    const ssize_t got = ::read(source->get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error("read " + from.string());
    if (got == 0) return flush_file(*target);
    TP_TRY(write_whole(*target, std::span(buffer).first(static_cast<std::size_t>(got))));
  }
}

}  // namespace

std::string CheckpointName::text() const {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%012lld", static_cast<long long>(step));
  return tag + std::string(kStepMark) + digits + "." + worker.text() + std::string(kSuffix);
}

std::optional<CheckpointName> CheckpointName::parse(const std::string& file_name) {
  const std::size_t mark = file_name.rfind(kStepMark);
  if (mark == std::string::npos || !file_name.ends_with(kSuffix)) return std::nullopt;
  CheckpointName name{.tag = file_name.substr(0, mark)};
  const char* begin = file_name.data() + mark + kStepMark.size();
  const char* end = file_name.data() + file_name.size() - kSuffix.size();
  const auto [dot, failed] = std::from_chars(begin, end, name.step);
  if (failed != std::errc() || name.step < 0 || dot == end || *dot != '.') return std::nullopt;
  const auto worker = WorkerId::parse(std::string(dot + 1, end));
  if (!worker) return std::nullopt;
  name.worker = *worker;
  return name;
}

std::string tag_of(const std::string& owner) {
  if (owner.empty()) return "alone";
  return owner.substr(owner.rfind('/') + 1) + "." + Digest().mix(owner).text().substr(0, 8);
}

std::vector<fs::path> checkpoints_in(const fs::path& folder, const std::string& tag) {
  std::vector<fs::path> paths;
  for (const Entry& entry : entries_of(folder, tag)) paths.push_back(entry.path);
  return paths;
}

Result<fs::path> publish_checkpoint(const fs::path& folder, const CheckpointName& name, const WriteFile& write) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return io_error("cannot create the folder " + folder.string() + ": " + error.message());
  const fs::path path = folder / name.text();
  const fs::path unfinished = path.string() + std::string(kUnfinished);
  Status status = write(unfinished);
  if (status.ok() && ::rename(unfinished.c_str(), path.c_str()) != 0) status = file_error("name " + path.string());
  if (!status.ok()) {
    fs::remove(unfinished, error);
    return Error{status.error().code, folder.string() + ": " + status.error().message};
  }
  TP_TRY(flush_folder(folder));
  point_latest_at(folder, path.filename().string());
  return path;
}

void prune_checkpoints(const fs::path& folder, const CheckpointName& published, int keep) {
  std::set<std::int64_t> steps;
  for (const Entry& entry : entries_of(folder, published.tag)) {  // newest first
    if (entry.name.step > published.step) continue;
    steps.insert(entry.name.step);
    std::error_code ignored;
    if (steps.size() > static_cast<std::size_t>(std::max(keep, 1))) fs::remove(entry.path, ignored);
  }
}

void remove_unfinished(const fs::path& folder, const std::string& tag) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.ends_with(kUnfinished)) continue;
    const auto own = CheckpointName::parse(name.substr(0, name.size() - kUnfinished.size()));
    if (own && own->tag == tag) found.push_back(it->path());
  }
  for (const fs::path& path : found) fs::remove(path, error);
}

Status move_checkpoint(const fs::path& file, const fs::path& folder) {
  const auto name = CheckpointName::parse(file.filename().string());
  if (!name) return invalid_argument(file.string() + " is no checkpoint");
  auto published = publish_checkpoint(folder, *name, [&](const fs::path& to) { return copy_bytes(file, to); });
  if (!published.ok()) return published.error();
  std::error_code error;
  fs::remove(file, error);
  if (error) return io_error("cannot remove " + file.string() + ": " + error.message());
  return ok_status();
}

}  // namespace tidepool::runtime
