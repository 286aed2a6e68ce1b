import { MirrorError } from "../../base/errors.ts";
import { unknownName } from "../../base/names.ts";
import type { ResourceChoice } from "../../config/config.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";

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
