#include "base/result.hpp"

namespace tidepool {

const char* to_text(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kConflict: return "conflict";
    case ErrorCode::kOutdated: return "outdated";
    case ErrorCode::kLastAdmin: return "last_admin";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kLimitExceeded: return "limit_exceeded";
    case ErrorCode::kIo: return "io";
    case ErrorCode::kInternal: return "internal";
  }
  return "internal";
}

}  // namespace tidepool
