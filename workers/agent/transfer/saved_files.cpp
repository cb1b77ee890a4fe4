#include "workers/agent/transfer/saved_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "workers/agent/system/state_files.hpp"
#include "workers/runtime/checkpoint/checkpoint_folder.hpp"

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIncoming = "incoming";
constexpr std::int64_t kSyncedAtOnce = std::int64_t{64} << 20U;  // so that not everything is flushed at the end

Result<OpenState> open_in(const fs::path& folder, const std::string& name) {
  const UniqueFd place(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place) return errno_error("open " + folder.string());
  UniqueFd file(::openat(place.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat above{};
  struct stat info{};
  if (!file || ::fstat(place.get(), &above) != 0 || ::fstat(file.get(), &info) != 0) {
    return errno_error("open " + (folder / name).string());
  }
  if (!S_ISREG(info.st_mode) || info.st_uid != above.st_uid || info.st_nlink != 1) {
    return invalid_argument((folder / name).string() + " is not a file of its folder's owner alone");
  }
  return OpenState{.name = name, .bytes = info.st_size, .file = std::move(file)};
}

}  // namespace

bool SavedFiles::is_state(const std::string& name, JobId job, std::int64_t step) const {
  const auto known = runtime::CheckpointName::parse(name);
  return known && known->step == step && known->text() == name &&
         known->tag == runtime::tag_of(cluster_ + "/" + job.text());
}

Result<OpenState> SavedFiles::open(JobId job, std::int64_t step) const {
  std::vector<fs::path> folders{folders_.jobs / job.text() / kIncoming, folders_.jobs / job.text() / "checkpoints"};
  // First, because states are moved from there to the disk meanwhile.
  if (!folders_.memory.empty()) folders.insert(folders.begin(), folders_.memory / cluster_ / job.text());
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      if (!is_state(name, job, step)) continue;
      auto state = open_in(folder, name);
      if (state.ok()) return state;
    }
  }
  return not_found("no state of step " + std::to_string(step) + " of " + job.text() + " lies here");
}

Result<fs::path> SavedFiles::incoming(JobId job) const {
  const fs::path folder = folders_.jobs / job.text() / kIncoming;
  std::error_code error;
  fs::create_directories(folders_.jobs, error);
  TP_TRY(make_private_folder(folders_.jobs / job.text()));
  TP_TRY(make_private_folder(folder));
  return folder;
}

Status SavedFiles::deliver(JobId job, const fs::path& folder, uid_t owner) const {
  const fs::path from = folders_.jobs / job.text() / kIncoming;
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator it(from, error), end; !error && it != end; it.increment(error)) {
    if (runtime::CheckpointName::parse(it->path().filename().string())) names.push_back(it->path().filename().string());
  }
  if (names.empty()) return ok_status();
  if (owner == 0) fs::create_directories(folder, error);
  for (const std::string& name : names) {
    const fs::path here = from / name;
    if (owner != 0 && ::lchown(here.c_str(), owner, owner) != 0) return errno_error("give " + here.string());
    if (::rename(here.c_str(), (folder / name).c_str()) != 0) return errno_error("move " + here.string());
  }
  fs::remove_all(from, error);
  return ok_status();
}

void SavedFiles::forget_incoming(JobId job) const {
  std::error_code error;
  fs::remove_all(folders_.jobs / job.text() / kIncoming, error);
}

Result<std::vector<std::byte>> read_chunk(int file, std::int64_t offset, std::int64_t bytes) {
  std::vector<std::byte> chunk(static_cast<std::size_t>(std::min<std::int64_t>(kStateChunk, bytes - offset)));
  std::size_t have = 0;
  while (have < chunk.size()) {
    const ssize_t got =
        ::pread(file, chunk.data() + have, chunk.size() - have, static_cast<off_t>(offset) + static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read a state");
    if (got == 0) return io_error("the state has become shorter while it was read");
    have += static_cast<std::size_t>(got);
  }
  return chunk;
}

Result<IncomingFile> IncomingFile::open(const fs::path& folder, const std::string& name, std::int64_t bytes,
                                        const std::function<bool()>& goes_on) {
  const fs::path path = folder / name;
  const std::string part = path.string() + ".part";
  UniqueFd file(::open(part.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return errno_error("open " + part);
  IncomingFile incoming(path, bytes, std::move(file));
  TP_TRY(incoming.take_up(goes_on));
  return incoming;
}

Status IncomingFile::take_up(const std::function<bool()>& goes_on) {
  struct stat info{};
  if (::fstat(file_.get(), &info) != 0) return errno_error("look at " + part().string());
  const std::int64_t there = info.st_size <= bytes_ ? info.st_size : 0;
  const std::int64_t whole = there - there % static_cast<std::int64_t>(kStateChunk);
  while (offset_ < whole) {
    const auto chunk = read_chunk(file_.get(), offset_, whole);
    if (!chunk.ok()) return chunk.error();
    checksum_.add(*chunk);
    offset_ += static_cast<std::int64_t>(chunk->size());
    if (!goes_on()) return io_error("stopped while it looked through what had come of the state before");
  }
  if (::ftruncate(file_.get(), offset_) != 0) return errno_error("shorten " + part().string());
  return ok_status();
}

Status IncomingFile::add(const Frame& frame) {
  const auto size = static_cast<std::int64_t>(frame.chunk.size());
  if (size != std::min<std::int64_t>(kStateChunk, bytes_ - offset_)) {
    return io_error("a chunk of the state has another length than it should have");
  }
  std::size_t done = 0;
  while (done < frame.chunk.size()) {
    const ssize_t put = ::pwrite(file_.get(), frame.chunk.data() + done, frame.chunk.size() - done,
                                 static_cast<off_t>(offset_) + static_cast<off_t>(done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_error("write " + part().string());
    done += static_cast<std::size_t>(put);
  }
  checksum_.add(frame.chunk);
  offset_ += size;
  if (offset_ - on_disk_ < kSyncedAtOnce) return ok_status();
  on_disk_ = offset_;
  return ::fdatasync(file_.get()) == 0 ? ok_status() : Status(errno_error("write " + part().string()));
}

Status IncomingFile::finish(std::uint64_t checksum) {
  if (offset_ != bytes_) return io_error("the state ended before all of it had come");
  if (checksum_.value() != checksum) {
    ::unlink(part().c_str());
    return io_error("the state came with another checksum than it has; what had come is thrown away");
  }
  if (::fsync(file_.get()) != 0) return errno_error("write " + part().string());
  if (::rename(part().c_str(), path_.c_str()) != 0) return errno_error("name " + path_.string());
  const UniqueFd folder(::open(path_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder && ::fsync(folder.get()) == 0 ? ok_status() : Status(errno_error("write " + path_.string()));
}

}  // namespace tidepool::agent
