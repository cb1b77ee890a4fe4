// What a list shows of a job that has ended, as text that is kept beside the job when it ends, so that a page of many
// is put together without reading any of them. Only fields that differ from those of a blank job are kept; ids, names
// and times of the row, the time line and the currency are put in when it is shown.
#pragma once

#include <optional>
#include <string>

#include "schedulerd/live/service/service.hpp"

namespace tidepool::live::http {

// EndedRow::listed of a job that has ended: a line of name, blank and value for each field, by name.
[[nodiscard]] std::string listed_fields(const core::Job& job);

// As render_job() has the job for a caller of no tenant. None: nothing was kept, or fields that are not known here.
[[nodiscard]] std::optional<std::string> listed_text(const EndedRow& row, const WallClock& clock,
                                                     const std::string& currency);

// True: what a caller of one tenant sees of the reason has to be found out.
[[nodiscard]] bool reason_may_name_jobs(const EndedRow& row);

}  // namespace tidepool::live::http
