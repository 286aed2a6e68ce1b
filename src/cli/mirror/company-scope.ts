import { MirrorError } from "../../base/errors.ts";
import { shardOf, type Shard } from "../../status/shards.ts";
import { chosenCompanies, secretTexts, soleCompany } from "../../config/companies.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import { settingsOf, type CompanySettings } from "../../store/mirror-files.ts";
import type { Transport } from "../../connector/transport.ts";
import { connectService, type RequestGuard } from "../../runs/service-connection.ts";
import type { MirrorMoment } from "../../state/as-of/moment.ts";
import { openMirror, type Mirror } from "../../state/mirror.ts";
import { databaseError, type Db } from "../../store/database.ts";
import { openReadable } from "../../store/migrations/migrate.ts";
import { lockHolder, takeWriterLock } from "../../store/writer-lock.ts";
import { askWhoami, judgeToken } from "../../sync/identity/identify.ts";
import type { CommandContext } from "../program/command.ts";
import { someOf } from "../../base/names.ts";
import { counted } from "../../base/units.ts";
import { sourcesOf } from "../../connector/resource.ts";
import type { CompletenessByName } from "../../state/mirror-snapshot.ts";

export interface CompanyScope extends CompanySettings {
  readonly context: CommandContext;
  /** Of requests to the service, in a worker. */
  readonly guard?: RequestGuard;
  /** Of the mirror, where that is an overlay; the other files are those of now. @default the mirror is the live one */
  readonly moment?: MirrorMoment;
}

/** The companies that a command works on: all, or those named by `--company`; of them those of a shard. Throws `usage`. */
export function companyScopes(context: CommandContext, config: Config, shard?: Shard): CompanyScope[] {
  const chosen = chosenCompanies(config, context.globals.company);
  const isIn = ({ name }: CompanyConfig) => !shard || shardOf(name, shard.count).index === shard.index;
  return chosen.filter(isIn).map((one) => scopeOf(context, config, one));
}

/** The company of a command that works on a single one. Throws MirrorError `usage` where there are several. */
export function soleScope(context: CommandContext, config: Config): CompanyScope {
  return scopeOf(context, config, soleCompany(config, context.globals.company));
}

function scopeOf(context: CommandContext, config: Config, company: CompanyConfig): CompanyScope {
  return { ...settingsOf(config, company, context.connector.declaration), context };
}

/**
 * Runs `read` on a read-only connection to the mirror, without the lock, also beside its writer; with null when
 * there is no mirror yet.
 * @throws MirrorError `database` when it is no mirror, damaged, or of a newer version
 */
export async function readMirror<T>(
  { files }: Pick<CompanyScope, "files">,
  read: (db: Db | null) => T | Promise<T>,
): Promise<T> {
  using db = openReadable(files.mirror);
  return await naming(files.mirror, () => read(db));
}

/** Has an error of SQLite say which mirror is damaged. Those of other files are for `work` to name. */
async function naming<T>(mirror: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Error && error.name === "SqliteError" ? databaseError(mirror, error) : error;
  }
}

/** Runs `read` like `readMirror`, on a mirror that must be there: throws MirrorError `database` also where there is none yet. */
export function readExisting<T>(scope: CompanyScope, read: (db: Db) => T | Promise<T>): Promise<T> {
  return readMirror(scope, (db) => {
    if (db) return read(db);
    const { company, files } = scope;
    throw new MirrorError("database", `there is no mirror of ${company.name} yet: ${files.mirror}`, {
      hint: "Run `fintoro-mirror sync` first.",
    });
  });
}

/**
 * Runs `work` with the writer lock, on a mirror that must be there.
 * @param guarded what it is called where another process writes it; @default the mirror
 * @throws MirrorError `locked` while another process writes it
 */
export async function writeExisting<T>(
  scope: CompanyScope,
  command: string,
  work: (mirror: Mirror) => T | Promise<T>,
  guarded?: string,
): Promise<T> {
  // Opening one for writing would make it.
  await readExisting(scope, () => null);
  const { context, declaration, files } = scope;
  using lock = takeWriterLock(files.lock, command, guarded);
  using mirror = await openMirror(files.mirror, declaration, { ...context, lock });
  return await naming(files.mirror, () => work(mirror));
}

export function isDaemonThere({ files }: CompanyScope): boolean {
  return lockHolder(files.lock)?.command === "serve";
}

/** Logs one warning where the mirror that was published or exported lacks what a run by the config reads. */
export function warnIfIncomplete(
  { context, company, resources }: CompanyScope,
  completeness: CompletenessByName,
): void {
  const names = new Set(resources.map(({ name }) => name));
  const gaps = resources.flatMap((resource) => {
    const { name } = resource;
    const { isComplete = true, withoutDetail: rows = 0 } = completeness.get(name) ?? {};
    if (isComplete) return [];
    // No run reads what comes with records that the config leaves out.
    if (rows === 0 && !sourcesOf(resource).every((source) => names.has(source))) return [];
    return [rows > 0 ? `${name} (details of ${counted(rows, "record")})` : name];
  });
  if (gaps.length === 0) return;
  context.log.warn(`${company.name}: the mirror is not complete. Still to be read: ${someOf(gaps, 5)}`, {
    hint: "A run reads the rest: `sync`, or `serve` and workers by themselves. Table _about says for each table what is missing.",
  });
}

/** Asks the service once whose token a config of one company has, within the budget that the answer shows. */
export async function askWhoseToken(context: CommandContext, config: Config): Promise<string> {
  const { declaration } = context.connector;
  context.onSecrets(secretTexts(config));
  const served = settingsOf(config, soleCompany(config), declaration);
  await using service = connectService(context, served, { attempts: 2, budget: "memory" });
  return (await askWhoami(service.transport, declaration, { signal: context.signal })).name;
}

/** Judges the config's token, of the company `name`, for the mirror (I10); null where there is no mirror yet. */
export function judgeOwnToken(scope: CompanyScope, transport: Transport, name: string) {
  const { context, declaration, company } = scope;
  const token = company.token.reveal();
  const ask = async (path: string) =>
    (await transport.send({ method: "GET", path, expect: "json", signal: context.signal })).body;
  return readMirror(scope, (db) => db && judgeToken({ db, declaration }, { name, token }, ask));
}

/** Refuses the token of another company than the mirror's (I10): its records have the same numbers. */
export async function assertOwnToken(scope: CompanyScope, transport: Transport): Promise<void> {
  const { name } = await askWhoami(transport, scope.declaration, { signal: scope.context.signal });
  const verdict = await judgeOwnToken(scope, transport, name);
  if (verdict?.kind === "refused") throw verdict.error;
}
