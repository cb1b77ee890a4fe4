// Errors as values. A function that can fail returns Result<T> or Status; the caller cannot forget to check, and the
// message is written for the person who must act.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tidepool {

enum class ErrorCode {
  kInvalidArgument,  // the input is wrong; the message says what to change
  kNotFound,         // no such job, node, policy, file
  kConflict,         // valid in itself, but not in the present state
  kOutdated,         // the object to change has been changed since it was read
  kLastAdmin,        // the change would leave no administrator
  kUnavailable,      // not possible now; a later retry may work
  kLimitExceeded,    // larger or more than a stated limit
  kIo,               // disk, socket or process failed
  kInternal,         // a bug; the message is for the developers
};

[[nodiscard]] const char* to_text(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // one sentence: what is wrong and what to do
};

struct Unit {};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : outcome_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : outcome_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return outcome_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  [[nodiscard]] T& value() & { return std::get<0>(outcome_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(outcome_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(outcome_)); }
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

  // Requires: !ok().
  [[nodiscard]] const Error& error() const { return std::get<1>(outcome_); }

 private:
  std::variant<T, Error> outcome_;
};

using Status = Result<Unit>;

[[nodiscard]] inline Status ok_status() {
  return Status(Unit{});
}

inline Error invalid_argument(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message)};
}
inline Error not_found(std::string message) {
  return Error{ErrorCode::kNotFound, std::move(message)};
}
inline Error conflict(std::string message) {
  return Error{ErrorCode::kConflict, std::move(message)};
}
inline Error outdated(std::string message) {
  return Error{ErrorCode::kOutdated, std::move(message)};
}
inline Error io_error(std::string message) {
  return Error{ErrorCode::kIo, std::move(message)};
}

}  // namespace tidepool

// Returns the error of `expression` to the caller; the one macro that hides control flow.
#define TP_TRY(expression)                                \
  do {                                                    \
    if (auto tp_status = (expression); !tp_status.ok()) { \
      return tp_status.error();                           \
    }                                                     \
  } while (false)
