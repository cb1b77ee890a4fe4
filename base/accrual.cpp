#include "base/accrual.hpp"

namespace tidepool {

void accrue(Money rate_an_hour, Duration time, Money& sum, std::int64_t& remainder) {
  // 128 bits, because price times microseconds overflows 64 within days.
  __extension__ using Wide = __int128;
  const Wide owed = static_cast<Wide>(rate_an_hour.count_micros()) * time.count_us() + remainder;
  sum += Money::micros(static_cast<std::int64_t>(owed / kUsPerHour));
  remainder = static_cast<std::int64_t>(owed % kUsPerHour);
}

}  // namespace tidepool
