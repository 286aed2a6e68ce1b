import { backupScenario } from "./backup-scenario.ts";
import type { CrashScenario } from "./crash-scenario.ts";
import { deliveryScenario } from "./delivery-scenario.ts";
import { exportScenario } from "./export-scenario.ts";
import { pruneScenario } from "./prune-scenario.ts";
import { publishScenario } from "./publish-scenario.ts";
import { snapshotScenario } from "./snapshot-scenario.ts";
import { syncScenario } from "./sync-scenario.ts";

/** Every process whose points are tried, by name. */
export const scenarios: Readonly<Record<string, () => Promise<CrashScenario>>> = {
  "first-sync": () => syncScenario("first"),
  sync: () => syncScenario("changed"),
  deliveries: deliveryScenario,
  publish: () => publishScenario("anew"),
  "publish-changes": () => publishScenario("changes"),
  "export-csv": () => exportScenario("csv"),
  "export-parquet": () => exportScenario("parquet"),
  backup: () => backupScenario("backup"),
  restore: () => backupScenario("restore"),
  prune: pruneScenario,
  "snapshot-make": () => snapshotScenario("make"),
  "snapshot-pack": () => snapshotScenario("pack"),
  "snapshot-restore": () => snapshotScenario("restore"),
};
