// visit() with one lambda per case; a new case without a lambda does not compile.
#pragma once

namespace tidepool {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace tidepool
