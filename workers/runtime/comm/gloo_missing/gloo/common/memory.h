// Debian's libgloo-dev lacks this header, although gloo/transport/tcp/pair.h and context.h include it. This is the part
// that those two need: the layout. Found only if the real header is not installed (-idirafter).
#pragma once

#include <memory>

namespace gloo {

template <class T>
class NonOwningPtr final {
  std::shared_ptr<T> ptr_;
};

template <class T>
class WeakNonOwningPtr final {
  std::weak_ptr<T> ptr_;
};

}  // namespace gloo
