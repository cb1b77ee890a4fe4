// An immutable value that all its copies share. Equality compares the values.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace tidepool {

template <class T>
class SharedValue {
 public:
  SharedValue() : value_(blank()) {}
  SharedValue(T value) : value_(std::make_shared<const T>(std::move(value))) {}  // NOLINT(google-explicit-constructor)

  template <std::convertible_to<T> U>
  SharedValue(U value) : SharedValue(T(std::move(value))) {}  // NOLINT(google-explicit-constructor)

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  bool operator==(const SharedValue& other) const { return value_ == other.value_ || *value_ == *other.value_; }

 private:
  static const std::shared_ptr<const T>& blank() {
    static const auto shared = std::make_shared<const T>();
    return shared;
  }

  std::shared_ptr<const T> value_;  // never null
};

}  // namespace tidepool
