import { isoTime, localDate } from "../../../base/clock.ts";
import { counted, formatAge } from "../../../base/units.ts";
import { CompaniesTable, type CompanyRow } from "../../../fleet/postgres/tables/companies-table.ts";
import { OwnersTable } from "../../../fleet/postgres/tables/owners-table.ts";
import { forgetCompany, readRemovedCompanies } from "../../../fleet/postgres/tables/removed-companies.ts";
import type { CommandRun } from "../../program/command-table.ts";
import type { CommandEnding } from "../../program/exit-code.ts";
import { chosenMembers, fleetOf, loadConnector, namedCompanies, withPostgres } from "./open-fleet.ts";
import { MirrorError, throwIfAborted } from "../../../base/errors.ts";
import type { Config } from "../../../config/config.ts";
import type { Postgres } from "../../../fleet/postgres/connection.ts";
import type { CommandContext } from "../../program/command.ts";
import { formatFleetStatus, radarLines } from "../../../fleet/status/format-fleet-status.ts";
import { fleetStatusOutcome, readFleetStatus } from "../../../fleet/status/read-fleet-status.ts";
import { readRadar } from "../../../fleet/postgres/tables/radar-view.ts";
import { assertPackable } from "../../../export/plan/period.ts";
import { readPackageStatus } from "../../../fleet/status/package-status.ts";
import { contentsAddress } from "../../../files/published-files.ts";
import { assertKnown } from "../../../base/names.ts";
import { NodesTable } from "../../../fleet/postgres/tables/heartbeats.ts";
import { PackagesTable } from "../../../fleet/postgres/tables/packages-table.ts";

/** Lists the companies of the fleet with those that left it lately, or those chosen by `--company` and `--tag`. */
export const fleetListCommand: CommandRun<"fleet list"> = (context, { options: { tag }, config }) =>
  withPostgres<CommandEnding>(context, config, async (postgres) => {
    const wanted = namedCompanies(context, []);
    const { companies: shown, asOfMs } = await chosenMembers(postgres, wanted, tag);
    const owners = await new OwnersTable(postgres).ownersOf(shown.map(({ name }) => name));
    const byCompany = new Map(owners.map((one) => [one.company, one]));
    const members = shown.map((row) => [row.name, memberOf(row, byCompany.get(row.name))] as const);
    const width = Math.max(0, ...members.map(([name]) => name.length));
    const lines = members.map(([name, member]) => `${name.padEnd(width)}  ${memberText(member, asOfMs)}`);
    const isOfAll = wanted.length === 0 && tag === undefined;
    const removed = isOfAll ? await readRemovedCompanies(postgres) : [];
    if (members.length === 0) lines.push("the fleet has no companies; `fleet add` shares some");
    for (const { company, kept_until } of removed)
      lines.push(`${company}: removed; comes back as it was if it is added until ${kept_until}`);
    const removedOnes = removed.map(({ company, ...times }) => [company, times] as const);
    const companies = Object.fromEntries(members);
    await context.print({ companies, removed: Object.fromEntries(removedOnes) }, lines);
    return "complete";
  });

type KnownOwner = Awaited<ReturnType<OwnersTable["ownersOf"]>>[number];

/** A company of the fleet as `fleet list --json` prints it. */
function memberOf({ config, tags, changedAtMs }: CompanyRow, owner: KnownOwner | undefined) {
  return {
    // The node that has it now; null: none does.
    node: owner?.live ? owner.node : null,
    // Of its last owner; null: it never had one.
    epoch: owner?.epoch ?? null,
    // When it was added or its config changed last, ISO.
    changed_at: isoTime(changedAtMs),
    tags,
    // What `fleet add` stored; secrets are references.
    config,
  };
}

function memberText(member: ReturnType<typeof memberOf>, nowMs: number): string {
  const { node, epoch, changed_at: changedAt, tags } = member;
  const changed = `config of ${formatAge(changedAt, nowMs)} ago`;
  const owned = node === null ? (epoch === null ? "not read yet" : "idle") : `at ${node}, epoch ${epoch}`;
  return `${owned}; ${changed}${tags.length > 0 ? `; ${tags.join(" ")}` : ""}`;
}

export const fleetRemoveCommand: CommandRun<"fleet remove"> = async (context, { args, options, config }) => {
  const { forget, tag } = options;
  const wanted = namedCompanies(context, args);
  const hint = "`fleet remove acme` takes one out; `fleet list` shows all.";
  if (wanted.length === 0 && tag === undefined) throw new MirrorError("usage", "which companies?", { hint });
  const outcome = forget ? "forgotten" : "removed";
  const documents = await withPostgres(context, config, async (postgres) => {
    const { companies } = await chosenMembers(postgres, wanted, tag, forget);
    const chosen = companies.map(({ name }) => name);
    for (const name of chosen) await new CompaniesTable(postgres).remove(name);
    if (forget) for (const name of chosen) await forgetReleased(context, postgres, name);
    const owners = await ownersNow(postgres, chosen);
    return chosen.map((name) => {
      const released_by = owners.get(name) ?? null;
      return [name, { outcome, released_by, stays: whatStays(config, name) }] as const;
    });
  });
  const lines = documents.flatMap(([name, { released_by, stays }]) => [
    `${name}: ${outcome}${released_by === null ? "" : `; ${released_by} publishes it once more and releases it`}`,
    ...stays.map((place) => `  stays: ${place}`),
  ]);
  await context.print({ companies: Object.fromEntries(documents) }, context.globals.quiet ? [] : lines);
  return "complete";
};

/** A worker releases a company within this time; who has it and is lost has it no longer than that. */
const releaseMs = 60_000;
const lookEveryMs = 500;

/** Forgets a removed company as soon as nobody has it. Throws MirrorError `locked` where that takes too long. */
async function forgetReleased({ clock, log, signal }: CommandContext, postgres: Postgres, company: string) {
  const endMs = clock.monotonicMs() + releaseMs;
  for (let looks = 0; ; looks++) {
    const outcome = await forgetCompany(postgres, company);
    if (outcome === "forgotten") return;
    if (outcome === "present")
      throw new MirrorError("locked", `${company} was added again meanwhile, and is not forgotten`);
    const node = (await ownersNow(postgres, [company])).get(company) ?? "a worker";
    if (clock.monotonicMs() > endMs)
      throw new MirrorError("locked", `${company} was removed, and not forgotten: ${node} has it still`, {
        hint: "Run it again when `fleet list` shows that no worker has it.",
      });
    if (looks === 0) log.info(`waiting until ${node} has released it`, { company });
    await clock.sleep(lookEveryMs, signal);
    throwIfAborted(signal, `stopped: ${company} was removed, and is not forgotten`);
  }
}

async function ownersNow(postgres: Postgres, names: readonly string[]): Promise<Map<string, string>> {
  const owners = await new OwnersTable(postgres).ownersOf(names);
  return new Map(
    owners.flatMap(({ company, node, live }) => (live && node !== null ? [[company, node]] : [])),
  );
}

/** Nothing but a person removes what was published; what Postgres has, it forgets (`forgetRemoved`). */
function whatStays(config: Config, name: string): string[] {
  const { snapshots, reports } = fleetOf(config);
  const mirrors = [`${snapshots}/${name}/`, `${contentsAddress(snapshots, name)}/`];
  const published = [`pointers/${name}.json`, `company=${name}/`, `packages/*/${name}/`];
  return reports === null ? mirrors : [...mirrors, ...published.map((key) => `${reports}/${key}`)];
}

export const fleetStatusCommand: CommandRun<"fleet status"> = (context, { options, config }) =>
  withPostgres<CommandEnding>(context, config, async (postgres) => {
    const { maxAge, tag, radar, package: month } = options;
    if (month !== undefined) {
      const packable = await packableMembers(context, postgres, tag);
      const { companies, lines, outcome } = await readPackageStatus(postgres, month, packable);
      await context.print({ month, companies }, lines);
      return outcome;
    }
    const wanted = namedCompanies(context, []);
    const isOfSome = wanted.length > 0 || tag !== undefined;
    const chosen = isOfSome ? await chosenMembers(postgres, wanted, tag) : null;
    const only = chosen && chosen.companies.map(({ name }) => name);
    if (radar) {
      const companies = await readRadar(postgres, only);
      await context.print({ companies: Object.fromEntries(companies) }, radarLines(companies));
      return "complete";
    }
    const status = await readFleetStatus(postgres, maxAge ?? null, only);
    await context.print(status, formatFleetStatus(status));
    return fleetStatusOutcome(status);
  });

export const fleetPackageCommand: CommandRun<"fleet package"> = (context, { options, config }) => {
  const { month, tag, proved } = options;
  assertPackable("fleet package", month, proved, localDate(context.clock.nowMs(), config.schedule.timezone));
  if (fleetOf(config).reports === null)
    throw new MirrorError("config", "packages are stored in fleet.reports, which the config does not have", {
      hint: "Add it here and to the workers' config: a folder that all share, or s3://BUCKET/PREFIX.",
    });
  return withPostgres<CommandEnding>(context, config, async (postgres) => {
    const asked = await packableMembers(context, postgres, tag);
    await new PackagesTable(postgres).ask(asked, month, proved);
    const nodes = await new NodesTable(postgres).list();
    const isWorked = nodes.some(({ role, lost, draining }) => role !== "receive" && !lost && !draining);
    const count = counted(asked.length, "company", "companies");
    const line = `${month}: asked of ${count}; \`fleet status --package ${month}\` says who has it`;
    const lines = [line, ...(isWorked ? [] : ["no worker runs: it is packed as soon as one does"])];
    await context.print({ month, proved, asked }, context.globals.quiet && isWorked ? [] : lines);
    return isWorked ? "complete" : "difference";
  });
};

/** The chosen members whose service has a package of a month. Throws MirrorError `usage` where one that was named has none. */
async function packableMembers(context: CommandContext, postgres: Postgres, tag: string | undefined) {
  const wanted = namedCompanies(context, []);
  const { companies } = await chosenMembers(postgres, wanted, tag);
  const packable: string[] = [];
  for (const { name, config } of companies) {
    const { connector = null } = config as { readonly connector?: string };
    const { title, monthPackage } = (await loadConnector(context, connector)).declaration;
    const what = `${name}: ${title} has no package of a month`;
    if (monthPackage) packable.push(name);
    else if (wanted.length > 0) throw new MirrorError("usage", what);
    else context.log.info(`${what}: left out`);
  }
  return packable;
}

export const fleetDrainCommand: CommandRun<"fleet drain"> = (context, { args: [node = ""], config }) =>
  withPostgres<CommandEnding>(context, config, async (postgres) => {
    const nodes = new NodesTable(postgres);
    const known = await nodes.list();
    const found = known.find((one) => one.node === node);
    const hint = "Stop it: what was sent to it and not answered is sent again, to another receiver.";
    if (found?.role === "receive")
      throw new MirrorError("usage", `${node} only receives: it holds no company`, { hint });
    const names = known.map((one) => one.node);
    assertKnown("node", [node], names, "`fleet status` shows all nodes.");
    await nodes.drain(node);
    const held = found?.held ?? 0;
    const now = held === 0 ? "holds no company" : `releases ${counted(held, "company", "companies")}`;
    const line = `${node}: ${now}, and takes no more until it is started again`;
    await context.print({ node, draining: true, held }, context.globals.quiet ? [] : [line]);
    return "complete";
  });
