import { MirrorError } from "../../base/errors.ts";
import { nearest } from "../../base/names.ts";
import type { ResourceChoice } from "../../config/config.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";

/** The resources a config asks for, in the manifest's order; names given on the command line narrow them. */
export function selectResources(
  manifest: Manifest,
  choice: ResourceChoice,
  names: readonly string[],
): Resource[] {
  for (const name of names) assertKnown(manifest, name);
  const wanted = names.length > 0 ? names : choice.include;
  return manifest.resources.filter(
    ({ name }) =>
      (wanted === null || wanted.includes(name)) && (names.includes(name) || !choice.exclude.includes(name)),
  );
}

function assertKnown(manifest: Manifest, name: string): void {
  const known = manifest.resources.map((resource) => resource.name);
  if (known.includes(name)) return;
  const meant = nearest(name, known);
  throw new MirrorError("usage", `unknown resource "${name}"${meant ? `; did you mean "${meant}"?` : ""}`, {
    hint: "`fintoro-mirror schema --tables` lists them all",
  });
}
