import { readFileSync } from "node:fs";
import path from "node:path";
import { hintOf, messageOf, MirrorError, readNamed } from "../../../base/errors.ts";
import { forEachAtOnce } from "../../../base/semaphore.ts";
import { chosenCompanies } from "../../../config/companies.ts";
import { valueAt } from "../../../config/yaml.ts";
import type { LoadedConfig } from "../../../config/load.ts";
import { readSecretFile } from "../../../config/secrets.ts";
import { companyDocument, configOfCompany } from "../../../fleet/config/company-document.ts";
import type { CompanyDocument, DocumentOfFile } from "../../../fleet/config/company-document.ts";
import { readCompanyList, readTags, tagForm, type RefusedLine } from "../../../fleet/config/company-list.ts";
import { startJobEngine } from "../../../fleet/jobs/job-engine.ts";
import type { Postgres } from "../../../fleet/postgres/connection.ts";
import { CompaniesTable } from "../../../fleet/postgres/tables/companies-table.ts";
import { migrateFleet } from "../../../fleet/postgres/schema.ts";
import { askWhoseToken } from "../../mirror/company-scope.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { chosenMembers, namedCompanies, withPostgres } from "./open-fleet.ts";

interface SharedCompany {
  readonly name: string;
  readonly document: CompanyDocument;
  /** Null: it keeps those that it has. */
  readonly tags: readonly string[] | null;
  /** Of the list; null: it is in the config. */
  readonly line: number | null;
}

interface Sharing extends Pick<DocumentOfFile, "leftOut"> {
  readonly companies: readonly SharedCompany[];
  readonly refused: RefusedLine[];
}

/** Shares companies with all workers. Of the config all or none is shared; of a list, a line that cannot be is refused. */
export const fleetAddCommand: CommandRun<"fleet add"> = async (context, { args, options, ...loaded }) => {
  const { log, globals } = context;
  const { from } = options;
  const tags = options.tag.length > 0 ? readTags(options.tag.join(" ")) : [];
  if (tags === null) throw new MirrorError("usage", `--tag: ${tagForm}`);
  const named = namedCompanies(context, args);
  const { companies, leftOut, refused } =
    from === undefined
      ? ofConfig(loaded, chosenNames(loaded, named, options.all), tags)
      : ofList(context, loaded, from, tags, options.all || named.length > 0);
  for (const { key, reason } of leftOut) log.warn(`left out: ${key}: ${reason}`);
  const show = ({ line, reason }: RefusedLine) => log.error(`${from}:${line}: ${reason}`);
  refused.forEach(show);
  const outcomes = await withPostgres(context, loaded.config, async (postgres) => {
    await migrateFleet(postgres);
    return shareAll(context, loaded, postgres, companies, (one) => {
      refused.push(one);
      show(one);
    });
  });
  const documents = Object.fromEntries([...outcomes].map(([name, outcome]) => [name, { outcome }]));
  const shown = [...outcomes].filter(([, outcome]) => from === undefined || outcome !== "unchanged");
  const lines = shown.map(([name, outcome]) => `${name}: ${outcome}`);
  if (from !== undefined)
    lines.push(`${from}: ${outcomes.size - shown.length} unchanged, ${refused.length} refused`);
  const ofLines = from === undefined ? {} : { refused: refused.toSorted((a, b) => a.line - b.line) };
  const document = { companies: documents, ...ofLines, left_out: leftOut };
  await context.print(document, globals.quiet ? [] : lines);
  return refused.length > 0 ? "partial" : "complete";
};

function chosenNames({ config }: LoadedConfig, named: readonly string[], all: boolean): readonly string[] {
  if (all === named.length > 0)
    throw new MirrorError("usage", all ? "--all is every company: name none" : "which companies?", {
      hint: "`fleet add acme beta` shares these two, `fleet add --all` every company of the config.",
    });
  const chosen = chosenCompanies(config, all ? undefined : named.join(","));
  if (chosen.length > 0) return chosen.map(({ name }) => name);
  throw new MirrorError("config", "the config has no companies to share", {
    hint: "A worker's file may have none: use the one that names them under `companies`.",
  });
}

/** Throws MirrorError `config` with all that is wrong with any of them. */
function ofConfig(loaded: LoadedConfig, names: readonly string[], tags: readonly string[]): Sharing {
  const failures: MirrorError[] = [];
  const documents = names.flatMap((name) => {
    try {
      return [{ name, ...companyDocument(loaded, name) }];
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      failures.push(error);
      return [];
    }
  });
  const failure = failures.at(-1);
  if (failure) {
    const problems = new Set(failures.flatMap(({ message }) => message.split("\n")));
    throw new MirrorError("config", [...problems].join("\n"), { ...hintOf(failure), cause: failure });
  }
  const own = tags.length > 0 ? tags : null;
  const companies = documents.map(({ name, document }) => ({ name, document, tags: own, line: null }));
  return { companies, leftOut: documents[0]?.leftOut ?? [], refused: [] };
}

/** Throws MirrorError `usage`, and `config` for a list or a config of which no line can be used. */
function ofList(
  { cwd }: CommandContext,
  loaded: LoadedConfig,
  from: string,
  tags: readonly string[],
  isNaming: boolean,
): Sharing {
  if (isNaming) throw new MirrorError("usage", "--from is every company of the list: name none");
  const list = readNamed(() => readFileSync(path.resolve(cwd, from)), "config", from);
  const { listed, refused } = readCompanyList(list, from);
  const { leftOut } = companyDocument(loaded, "");
  const companies = listed.flatMap(({ name, token, line, tags: own }): SharedCompany[] => {
    // What else the config says of the company stays, such as how it receives deliveries.
    const company = { ...(valueAt(loaded.raw, ["companies", name]) as object | undefined), token };
    const raw = { ...(loaded.raw as object), companies: { [name]: company } };
    const all = own || tags.length > 0 ? [...new Set([...(own ?? []), ...tags])].toSorted() : null;
    try {
      return [{ name, line, tags: all, document: companyDocument({ ...loaded, raw }, name).document }];
    } catch (error) {
      refused.push({ line, reason: messageOf(error) });
      return [];
    }
  });
  return { companies, leftOut, refused };
}

/** Lines of a list that are tried at a time: each is a company with a budget of its own. */
const triedAtOnce = 8;

/** Shares companies in their order, those of a list several at a time. Gives what became of each. */
async function shareAll(
  context: CommandContext,
  loaded: LoadedConfig,
  postgres: Postgres,
  all: readonly SharedCompany[],
  onRefused: (line: RefusedLine) => void,
): Promise<ReadonlyMap<string, string>> {
  const { sync, timezone } = loaded.config.schedule;
  const { signal } = context;
  const companies = new CompaniesTable(postgres);
  const { companies: there } = await chosenMembers(postgres, []);
  const known = new Map(there.map(({ name }) => [name.toLowerCase(), name]));
  const outcomes = new Map(all.map(({ name }) => [name, "refused"]));
  let shared = 0;
  const progress = () => `${shared} of ${all.length} companies are shared`;
  const throwIfStopped = () => {
    const hint = "Run it again: what is shared stays, and the rest follows.";
    if (signal.aborted) throw new MirrorError("stopped", `stopped: ${progress()}`, { hint });
  };
  const refuse = (line: number | null, error: unknown) => {
    throwIfStopped();
    if (line === null || !(error instanceof MirrorError)) throw error;
    onRefused({ line, reason: error.message });
    return false;
  };
  const distinct = all.filter(({ name, line }) => {
    const twin = known.get(name.toLowerCase()) ?? name;
    const message = `the fleet has a company ${twin}: ${name} differs only in case`;
    const hint = "On some disks their mirrors would be the same file: choose another name.";
    return twin === name || refuse(line, new MirrorError("config", message, { hint }));
  });
  await using engine = await startJobEngine(postgres, context.log, false);
  const shareOne = async ({ name, document, tags, line }: (typeof distinct)[number]) => {
    throwIfStopped();
    const isKnown = line === null || (await companies.has(name, document, sync, timezone));
    const isRight =
      isKnown ||
      (await tryToken(context, loaded, name, document).catch((error: unknown) => refuse(line, error)));
    if (!isRight) return;
    const outcome = await companies.put(name, document, sync, timezone, tags);
    if (outcome === "added" || outcome === "changed") await engine.send("run", [name]);
    outcomes.set(name, outcome);
    shared++;
  };
  // First: a company of the fleet has its schedule, wherever this ends, and to add it again heals the rest.
  if (sync !== null) await engine.schedule(sync, timezone);
  const atOnce = distinct.some(({ line }) => line === null) ? 1 : triedAtOnce;
  await context.showing((show) => {
    show(progress);
    return forEachAtOnce(atOnce, distinct, shareOne);
  });
  return outcomes;
}

/** Throws MirrorError where the service does not say whose token it is, and `config` for a token that is not here. */
async function tryToken(
  context: CommandContext,
  { config: { dataDir } }: LoadedConfig,
  name: string,
  document: CompanyDocument,
): Promise<true> {
  const { env, connectors } = context;
  const surroundings = { dataDir, env, readFile: readSecretFile, connectors };
  await askWhoseToken(context, configOfCompany(name, document, surroundings));
  return true;
}
