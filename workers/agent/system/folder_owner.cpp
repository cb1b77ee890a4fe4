#include "workers/agent/system/folder_owner.hpp"

#include <sys/stat.h>

#include <cstdio>
#include <random>
#include <vector>

#include "base/files/whole_file.hpp"
#include "base/json.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOwner = "owner.json";

struct FolderPlace {
  std::string path;
  std::int64_t device = 0;
  std::int64_t inode = 0;
};

Result<FolderPlace> place_of(const fs::path& state_dir) {
  std::error_code error;
  const fs::path real = fs::canonical(state_dir, error);
  struct stat info{};
  if (error || ::stat(real.c_str(), &info) != 0) return errno_error("look at " + state_dir.string());
  return FolderPlace{real.string(), static_cast<std::int64_t>(info.st_dev), static_cast<std::int64_t>(info.st_ino)};
}

std::string new_instance() {
  std::random_device chance;
  std::string name;
  for (int i = 0; i < 4; ++i) {
    char part[9] = {};
    std::snprintf(part, sizeof(part), "%08x", chance());
    name += part;
  }
  return name;
}

}  // namespace

Result<FolderOwner> read_owner(const fs::path& state_dir) {
  const auto here = place_of(state_dir);
  if (!here) return here.error();
  const auto text = read_whole_file(state_dir / kOwner);
  const auto parsed = text ? parse_json(*text) : Result<nlohmann::json>(text.error());
  if (!parsed) return FolderOwner{};
  std::vector<FieldError> errors;
  ObjectReader in(*parsed, "", errors);
  FolderOwner owner{.known = true, .is_here = false, .instance = in.required_text("instance"), .path = ""};
  owner.path = in.required_text("path");
  const std::int64_t device = in.required_integer("device", {.low = 0, .high = INT64_MAX});
  const std::int64_t inode = in.required_integer("inode", {.low = 0, .high = INT64_MAX});
  in.finish();
  if (!errors.empty()) return FolderOwner{};
  owner.is_here = owner.path == here->path || (device == here->device && inode == here->inode);
  return owner;
}

Result<std::string> claim_folder(const fs::path& state_dir, const FolderOwner& before) {
  const auto here = place_of(state_dir);
  if (!here) return here.error();
  std::string instance = before.is_here ? before.instance : new_instance();
  TP_TRY(replace_file(
      state_dir / kOwner,
      canonical_json({{"instance", instance}, {"path", here->path}, {"device", here->device}, {"inode", here->inode}}) +
          "\n"));
  return instance;
}

}  // namespace tidepool::agent
