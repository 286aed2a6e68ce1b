import type { CompletenessByName } from "../../state/mirror-snapshot.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import { selectResources } from "../mirror/selected-resources.ts";

/** More are counted. */
const mostNamed = 5;

/** Logs one warning where the mirror that was published or exported lacks some of what the config asks for. */
export function warnIfIncomplete(
  { context, manifest, config, company }: CompanyScope,
  completeness: CompletenessByName,
): void {
  const selected = selectResources(manifest, config.resources, []);
  const gaps = gapsOf(
    completeness,
    selected.map(({ name }) => name),
  );
  if (gaps.length === 0) return;
  const more = gaps.length > mostNamed ? ` and ${gaps.length - mostNamed} more` : "";
  const named = gaps.slice(0, mostNamed).join(", ");
  context.log.warn(`${company.name}: the mirror is not complete. Still to be read: ${named}${more}`, {
    hint: "Run sync until it is complete. Table _about says for each table what is missing.",
  });
}

/** What is missing of these resources: one text each. */
function gapsOf(completeness: CompletenessByName, names: Iterable<string>): string[] {
  return [...names].flatMap((name) => {
    const found = completeness.get(name);
    if (!found || found.isComplete) return [];
    const { withoutDetail: rows } = found;
    return rows > 0 ? `${name} (details of ${rows} ${rows === 1 ? "record" : "records"})` : name;
  });
}
