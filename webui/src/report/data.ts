// What schedctl puts into the page (schedctl/studies/compare_report.cpp).
// range: of two seeds, which are too few for an interval.
export interface Estimate { mean: number; half_width_95: number | null; range: [number, number] | null }
export interface Ratio { mean: number; low_95: number | null; high_95: number | null; range: [number, number] | null }

export interface SummaryRow {
  workload: string;
  policy: string;
  ratio: Ratio | null;
  avg_jct_s: Estimate | null; // null: no job completed; so are the other figures of completed jobs
  p50_jct_s: Estimate | null;
  p99_jct_s: Estimate | null;
  makespan_s: Estimate;
  utilization_percent: Estimate;
  ftf_worst: Estimate | null;
  decision_us_p99: Estimate;
}

export interface PolicyCurves {
  policy: string;
  completed: number;
  jct_s: number[]; // quantiles, evenly spaced from the smallest to the largest
  fairness: number[];
  slots: number[]; // held on average in each of evenly long parts of the run
  groups: { name: string; slots: number[] }[];
}

export interface ReportData {
  simulator: string;
  cluster: string;
  command: string;
  seeds: number[];
  policies: string[];
  summary: SummaryRow[];
  runs: { policy: string; jobs: number; completed: number; deadlines?: number; deadlines_met?: number }[];
  workloads: { name: string; jobs: number; end_s: number; remarks: string[]; policies: PolicyCurves[] }[]; // end: after the first submission
}

// What schedctl sim frontier puts there (schedctl/studies/frontier.cpp).
export interface FrontierPoint {
  rule: string; setting: string; best: boolean;
  avg_jct_s: number; p99_jct_s: number; avg_queue_s: number; node_hours: number; cost: number;
}

export interface FrontierData {
  workload: string; policy: string; cluster: string; command: string;
  jobs: number;
  seeds: number[];
  points: FrontierPoint[];
  savings: { avg_jct_s: number; threshold_hours: number; built_in_hours: number; share: number }[];
}

export function readData(): ReportData | { frontier: FrontierData } {
  const text = document.getElementById("data")?.textContent;
  if (!text) throw new Error("the page holds no figures");
  return JSON.parse(text) as ReportData | { frontier: FrontierData };
}
