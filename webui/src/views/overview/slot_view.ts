// What both pictures of the slots are drawn from.
import type { ClusterNode, Job } from "../../api/types";

export interface SlotViewProps {
  nodes: readonly ClusterNode[];
  jobs: ReadonlyMap<string, Job>;
  lit: string | null;
  onLight(job: string | null): void;
}
