// Which state directory the records in it belong to, and a name for the agent that keeps them: a copy of the directory
// is another agent. Kept in `owner.json`; by its path or by its inode a directory is known again, so it may be moved.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace tidepool::agent {

struct FolderOwner {
  bool known = false;    // the records name an owner; those of earlier versions name none
  bool is_here = false;  // and it is this directory
  std::string instance;
  std::string path;  // that the records name
};

[[nodiscard]] Result<FolderOwner> read_owner(const std::filesystem::path& state_dir);
// The records are those of this directory from now on; its instance, a new one unless `before` is here.
[[nodiscard]] Result<std::string> claim_folder(const std::filesystem::path& state_dir, const FolderOwner& before);

}  // namespace tidepool::agent
