import { benchDisk } from "./disk.ts";
import { benchExport } from "./export.ts";
import { benchFleetQuestion } from "./fleet-question.ts";
import { benchPlan } from "./plan.ts";
import { benchPublish } from "./publish.ts";
import type { BenchResult } from "./result.ts";
import { benchReceiver } from "./receiver.ts";
import { benchSize } from "./size.ts";
import { benchStartup } from "./startup.ts";
import { benchStatusPage } from "./status-page.ts";

const args = process.argv.slice(2);
const asked = args.filter((name) => name !== "--large");

/**
 * `npm run bench`: ratios, each measured side by side in one run; a busy machine moves both sides.
 * `npm run bench -- receiver publish` runs those only, `--large` is for `size` and `fleet-question`. Nothing here is asserted by a test.
 */
const benches: Readonly<Record<string, () => Promise<BenchResult[]>>> = {
  receiver: benchReceiver,
  plan: benchPlan,
  disk: benchDisk,
  size: () => benchSize(args.includes("--large")),
  publish: benchPublish,
  export: benchExport,
  startup: benchStartup,
  "fleet-question": () => benchFleetQuestion(args.includes("--large")),
  page: benchStatusPage,
};

const unknown = asked.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  console.error(`there is no bench ${unknown.join(", ")}; there are ${Object.keys(benches).join(", ")}`);
  process.exit(2);
}

for (const [name, bench] of Object.entries(benches)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  for (const result of await bench()) {
    console.log(
      `${result.ratio.toFixed(3).padStart(8)}  ${result.name} (aim: ${result.aim}) — ${result.detail}`,
    );
  }
}
