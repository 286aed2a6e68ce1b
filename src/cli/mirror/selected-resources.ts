import { MirrorError } from "../../base/errors.ts";
import { someOf, unknownName } from "../../base/names.ts";
import { counted } from "../../base/units.ts";
import type { ResourceChoice } from "../../config/config.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import type { Completeness, CompletenessByName } from "../../state/mirror-snapshot.ts";
import type { CompanyScope } from "./company-scope.ts";

/**
 * The resources of the config, in the manifest's order; names of the command line narrow them.
 * @throws MirrorError `usage` for a name that is no resource
 */
export function selectResources(
  manifest: Manifest,
  choice: ResourceChoice,
  names: readonly string[],
): Resource[] {
  const known = manifest.resources.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new MirrorError("usage", unknownName("table", unknown, known), {
      hint: "`fintoro-mirror schema --tables` lists them all",
    });
  const wanted = names.length > 0 ? names : choice.include;
  return manifest.resources.filter(
    ({ name }) =>
      (wanted === null || wanted.includes(name)) && (names.includes(name) || !choice.exclude.includes(name)),
  );
}

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
  return rows > 0 ? `${name} (details of ${counted(rows, "record")})` : name;
}
