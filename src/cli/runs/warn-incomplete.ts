import { someOf } from "../../base/names.ts";
import type { Completeness, CompletenessByName } from "../../state/mirror-snapshot.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import { selectResources } from "../mirror/selected-resources.ts";

/** Logs one warning where the mirror that was published or exported lacks some of what the config asks for. */
export function warnIfIncomplete(
  { context, manifest, config, company }: CompanyScope,
  completeness: CompletenessByName,
): void {
  const gaps = selectResources(manifest, config.resources, []).flatMap(({ name }) => {
    const found = completeness.get(name);
    return found && !found.isComplete ? [gapText(name, found)] : [];
  });
  if (gaps.length === 0) return;
  context.log.warn(`${company.name}: the mirror is not complete. Still to be read: ${someOf(gaps, 5)}`, {
    hint: "A run reads the rest: `sync`, or `serve` and workers by themselves. Table _about says for each table what is missing.",
  });
}

function gapText(name: string, { withoutDetail: rows }: Completeness): string {
  return rows > 0 ? `${name} (details of ${rows} ${rows === 1 ? "record" : "records"})` : name;
}
