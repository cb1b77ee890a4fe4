#include "tests/support/fault_vfs.hpp"

#include <sqlite3.h>

#include <cstdlib>

namespace tidepool::test {
namespace {

struct Disk {
  sqlite3_vfs* real = nullptr;
  DiskFault fault = DiskFault::kNone;
  std::int64_t at = 0;
  std::int64_t count = 0;
  bool struck = false;
  bool dead = false;
};
Disk disk;

struct File {
  sqlite3_file base;
  sqlite3_file* real;
};

sqlite3_file* real_of(sqlite3_file* file) {
  return reinterpret_cast<File*>(file)->real;
}

// Counts one operation; true if it must not succeed.
bool strikes() {
  ++disk.count;
  if (disk.dead) return true;
  if (disk.fault == DiskFault::kNone || disk.count != disk.at) return false;
  disk.struck = true;
  disk.dead = disk.fault == DiskFault::kTorn || disk.fault == DiskFault::kSyncLost;
  return true;
}

int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  sqlite3_file* real = real_of(file);
  const bool was_dead = disk.dead;
  if (!strikes()) return real->pMethods->xWrite(real, bytes, count, offset);
  if (disk.fault == DiskFault::kTorn && !was_dead) real->pMethods->xWrite(real, bytes, count / 2, offset);
  return disk.fault == DiskFault::kFull ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (strikes()) return SQLITE_IOERR_TRUNCATE;
  return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

int sync(sqlite3_file* file, int flags) {
  if (strikes()) return SQLITE_IOERR_FSYNC;
  return real_of(file)->pMethods->xSync(real_of(file), flags);
}

int close(sqlite3_file* file) {
  sqlite3_file* real = real_of(file);
  const int code = real->pMethods->xClose(real);
  std::free(real);
  return code;
}

// The rest passes through unchanged.
const sqlite3_io_methods kMethods = {
    2,
    close,
    [](sqlite3_file* f, void* into, int n, sqlite3_int64 at) {
      return real_of(f)->pMethods->xRead(real_of(f), into, n, at);
    },
    write,
    truncate,
    sync,
    [](sqlite3_file* f, sqlite3_int64* size) { return real_of(f)->pMethods->xFileSize(real_of(f), size); },
    [](sqlite3_file* f, int level) { return real_of(f)->pMethods->xLock(real_of(f), level); },
    [](sqlite3_file* f, int level) { return real_of(f)->pMethods->xUnlock(real_of(f), level); },
    [](sqlite3_file* f, int* held) { return real_of(f)->pMethods->xCheckReservedLock(real_of(f), held); },
    [](sqlite3_file* f, int op, void* arg) { return real_of(f)->pMethods->xFileControl(real_of(f), op, arg); },
    [](sqlite3_file* f) { return real_of(f)->pMethods->xSectorSize(real_of(f)); },
    [](sqlite3_file* f) { return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f)); },
    [](sqlite3_file* f, int page, int size, int extend, void volatile** map) {
      return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, map);
    },
    [](sqlite3_file* f, int offset, int n, int flags) {
      return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
    },
    [](sqlite3_file* f) { real_of(f)->pMethods->xShmBarrier(real_of(f)); },
    [](sqlite3_file* f, int unlink) { return real_of(f)->pMethods->xShmUnmap(real_of(f), unlink); },
    nullptr,
    nullptr,
};

int open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* own = reinterpret_cast<File*>(file);
  own->real = static_cast<sqlite3_file*>(std::calloc(1, static_cast<std::size_t>(disk.real->szOsFile)));
  const int code = disk.real->xOpen(disk.real, name, own->real, flags, out_flags);
  own->base.pMethods = own->real->pMethods != nullptr ? &kMethods : nullptr;
  if (own->base.pMethods == nullptr) std::free(own->real);
  return code;
}

}  // namespace

void arm_disk_fault(DiskFault fault, std::int64_t at) {
  static sqlite3_vfs vfs;
  if (disk.real == nullptr) {
    disk.real = sqlite3_vfs_find(nullptr);
    vfs = *disk.real;
    vfs.zName = kFaultVfs;
    vfs.szOsFile = sizeof(File);
    vfs.xOpen = open;
    sqlite3_vfs_register(&vfs, 0);
  }
  disk = Disk{.real = disk.real, .fault = fault, .at = at};
}

std::int64_t disk_operations() {
  return disk.count;
}

bool disk_fault_struck() {
  return disk.struck;
}

}  // namespace tidepool::test
