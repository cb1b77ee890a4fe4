// The report of a comparison: one HTML file that needs no network and no server, with the figures in it as JSON and the
// program that draws them. Its charts, styles and words are built in webui/report and lie in this program.
#pragma once

#include <string>

#include "schedctl/studies/comparison.hpp"

namespace tidepool::ctl {

// Throws Failure if this program was built without the web parts; before hours of runs, not after them.
void require_report_parts();

// A page of the report's program with these figures; which page it is follows from them.
[[nodiscard]] std::string report_page(const std::string& title, const nlohmann::ordered_json& data);

[[nodiscard]] std::string comparison_html(const Comparison& comparison);

// The figures of the report: for each workload and policy the table's rows, and as few points as a curve needs.
[[nodiscard]] nlohmann::ordered_json report_data(const Comparison& comparison);

}  // namespace tidepool::ctl
