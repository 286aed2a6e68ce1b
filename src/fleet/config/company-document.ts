import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import { snakeCase } from "../../base/names.ts";
import { pathText, valueAt } from "../../config/yaml.ts";
import type { KnownConnector } from "../../config/config-schema.ts";
import { sectionsFor, type Config } from "../../config/config.ts";
import { loadConfig, type LoadedConfig, type LoadOptions } from "../../config/load.ts";
import { referenceIn, writtenSecrets } from "../../config/secrets.ts";
import type { Path } from "../../config/yaml.ts";

/**
 * The config of one company as all nodes read it in Postgres: the keys of a config file with this company alone. Secrets
 * are references, which each node resolves by its own environment and files.
 */
export type CompanyDocument = Readonly<Record<string, unknown>>;

export type DocumentOfFile = ReturnType<typeof companyDocument>;

/**
 * Makes the document of one company of a config file, and gives keys of the file that no worker obeys, as `report.out`.
 *
 * @throws MirrorError `config` that names everything in the file that no other machine could use, with its place
 */
export function companyDocument(file: LoadedConfig, name: string) {
  const { raw, config } = file;
  const company = { companies: { [name]: valueAt(raw, ["companies", name]) } };
  const [alerts, notify] = ["alerts", "notify"].map((key) => valueAt(raw, [key]));
  const problems = [...secretProblems({ ...company, alerts, notify }), ...folderProblems(raw, config)];
  if (problems.length > 0) {
    const lines = problems.map(({ at, message }) => `${file.placeOf(at)}: ${message}`);
    throw new MirrorError("config", lines.join("\n"), {
      hint: "what `fleet add` stores in Postgres is read by workers on other machines",
    });
  }
  const shared = sectionsFor("fleet").flatMap((section) => {
    const key = snakeCase(section);
    const value = valueAt(raw, [key]);
    return value === undefined || value === null ? [] : [[key, sharedPart(key, value)]];
  });
  // Said in any case: another version may have another default.
  const { connector, baseUrl: base_url } = config;
  const document: CompanyDocument = { connector, base_url, ...Object.fromEntries(shared), ...company };
  return { document, leftOut: leftOutOf(config) };
}

function secretProblems(document: unknown) {
  return writtenSecrets(document).flatMap(({ path: at, text }) => {
    const where = pathText(at);
    const reference = referenceIn(text);
    // An address that the file shows is no secret.
    if (reference === null ? at.at(-1) === "url" : reference.kind === "env") return [];
    const inFile = `${where} stands in the file itself; the fleet takes secrets by reference only`;
    if (reference === null) return [{ at, message: inFile }];
    const beside = `${where} is in a file beside this config, which other machines do not have; name it by its absolute path, or by \${env:NAME}`;
    return path.isAbsolute(reference.name) ? [] : [{ at, message: beside }];
  });
}

function folderProblems(raw: unknown, { backup, exports }: Config) {
  const places: readonly Path[] = [
    ...(backup.to === null ? [] : [["backup", "to"]]),
    ...exports.flatMap(({ to }, index) => (to === null ? [["exports", index, "out"]] : [])),
  ];
  const beside = places.filter((at) => !/^(?:s3:\/\/|\/)/.test(String(valueAt(raw, at))));
  const instead = "name one that all share by its absolute path, or s3://bucket/prefix";
  return beside.map((at) => {
    const what = `${pathText(at)} is a folder beside this config, which other machines do not have`;
    return { at, message: `${what}; ${instead}${at[0] === "exports" ? " as `to`" : ""}` };
  });
}

/** Without what readers find on one machine, and programs that get alerts there. */
function sharedPart(section: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (section === "alerts") return Object.values(value).filter((one: object) => !("command" in one));
  if (section === "report") return "redact" in value ? { redact: value.redact } : {};
  return value;
}

/** The reason completes "left out: …". */
function leftOutOf({ report, alerts }: Config) {
  const ofReport = (["out", "mode"] as const).filter((key) => report[key] !== null);
  const reason = "workers publish reports to fleet.reports";
  const programs = { key: "alerts.command", reason: "workers send alerts to a url alone" };
  const hasProgram = alerts.some(({ command }) => command !== null);
  return [...ofReport.map((key) => ({ key: `report.${key}`, reason })), ...(hasProgram ? [programs] : [])];
}

/** What a node adds to a document: its own folder, environment and files. */
interface NodeSurroundings extends Required<Pick<LoadOptions, "env" | "readFile">> {
  readonly dataDir: string;
  /** All that this program knows: a document may name any of them. */
  readonly connectors: readonly [KnownConnector, ...KnownConnector[]];
}

/**
 * The config that a node works with for a company, by the same checks as that of a file. A secret that this node does not
 * have is missing where it is used; it keeps nothing else from working.
 *
 * @throws MirrorError `config` for a document that this version does not understand
 */
export function configOfCompany(name: string, document: unknown, node: NodeSurroundings): Config {
  const { dataDir, env, connectors } = node;
  // Messages begin with it, and with the line of the document.
  const file = `${name} (in Postgres)`;
  const text = JSON.stringify({ ...(document as CompanyDocument), data_dir: dataDir }, null, 2);
  const readFile = (wanted: string) =>
    wanted === path.resolve(dataDir, file) ? text : node.readFile(wanted);
  const options = { path: file, cwd: dataDir, env, readFile, connectors, secrets: "when_used" } as const;
  const { config } = loadConfig(options);
  // Who can write Postgres is not to run programs here.
  const alerts = config.alerts.filter(({ command }) => command === null);
  if (config.companies.length === 1 && config.companies[0]?.name === name) return { ...config, alerts };
  const hint = `Run \`fintoro-mirror fleet add ${name}\` again.`;
  throw new MirrorError("config", `${file}: the document is not of this company alone`, { hint });
}
