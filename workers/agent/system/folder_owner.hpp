// The state directory that the records in it belong to, and a name for the agent that keeps them: a copy of the
// directory is another agent. Stored in `owner.json`. A directory is recognised by its path or by its inode, so it may
// be moved.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace tidepool::agent {

struct FolderOwner {
  bool known = false;    // the records name an owner; records of earlier versions do not
  bool is_here = false;  // the owner is this directory
  std::string instance;
  std::string path;  // in the records
};

[[nodiscard]] Result<FolderOwner> read_owner(const std::filesystem::path& state_dir);
// Makes this directory the owner of the records; returns its instance, which is new unless `before` is here.
[[nodiscard]] Result<std::string> claim_folder(const std::filesystem::path& state_dir, const FolderOwner& before);

}  // namespace tidepool::agent
