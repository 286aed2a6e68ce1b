import { declaration as fintoro } from "../../../connectors/fintoro/declaration.ts";
import type { ConnectorDeclaration } from "../../../src/connector/connector-declaration.ts";
import type { Config } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { Resource } from "../../../src/connector/resource.ts";
import type { ParentsPerRun } from "../../../src/sync/plan/scrub.ts";
import { tableNames } from "../service/service-types.ts";

const names: ReadonlySet<string> = new Set(tableNames);
const isMirrored = (name: string) => names.has(name);
const isRuleMirrored = (rule: { readonly resource: string; readonly dependent: string }) =>
  isMirrored(rule.resource) && isMirrored(rule.dependent);
const { identity } = fintoro;

/** The connector with the few resources that the simulated service has: to open a mirror of all of them takes long. */
export const declaration: ConnectorDeclaration = {
  ...fintoro,
  resources: fintoro.resources.filter(({ name }) => isMirrored(name)).map(withMirroredParents),
  cascades: fintoro.cascades.filter(isRuleMirrored),
  invalidationRules: fintoro.invalidationRules?.filter(isRuleMirrored),
  identity: {
    ...identity,
    businessIdIn: identity.businessIdIn.filter(isMirrored),
    proofs: identity.proofs.map((proof) => ({ ...proof, resources: proof.resources.filter(isMirrored) })),
  },
  views: [],
};

function withMirroredParents(resource: Resource): Resource {
  const { list } = resource;
  if (list.kind !== "parents") return resource;
  return { ...resource, list: { ...list, parents: list.parents.filter((one) => isMirrored(one.resource)) } };
}

const configs = new Map<string, Config>();

/** The config with this token, as the program reads it. */
export function configWith(token: string, parentsPerRun: ParentsPerRun = "auto"): Config {
  const parents = `resources: { contact_activity_logs: { parents_per_run: ${parentsPerRun} } }`;
  const text = `base_url: https://simulated.example/v1\ndata_dir: .\ncompanies: { acme: { token: "${token}" } }\n${parents}\n`;
  const source = { env: {}, cwd: "/", readFile: () => text };
  const config = configs.get(text) ?? loadConfig({ ...source, connectors: [declaration] }).config;
  configs.set(text, config);
  return config;
}
