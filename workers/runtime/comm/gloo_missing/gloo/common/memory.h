// Debian's libgloo-dev leaves this header out, though gloo/transport/tcp/pair.h and context.h include it. Here is what
// those two need of it: the layout. Found only where the real one is not installed (-idirafter).
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
