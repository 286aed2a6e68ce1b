import { localDate } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import { counted } from "../../base/units.ts";
import { readyLimits } from "../../daemon/cron-schedule.ts";
import { openSnapshot } from "../../state/mirror-snapshot.ts";
import { HandOverCounts, type HandOverState } from "../../state/as-of/hand-overs.ts";
import { readStatus, statusOutcome, type CompanyStatus } from "../../status/read-status.ts";
import { statusLines } from "../../status/render/status-text.ts";
import { judgeShards, shardLines } from "../../status/shards.ts";
import { companyScopes, readMirror, type CompanyScope } from "../mirror/company-scope.ts";
import type { CommandRun } from "../program/command-table.ts";
import { worstOutcome } from "../program/exit-code.ts";

export const statusCommand: CommandRun<"status"> = async (context, { options, loaded: { config } }) => {
  const isOfSome = context.globals.company !== undefined || options.shard !== undefined;
  if (options.all && isOfSome)
    throw new MirrorError("usage", "--all is about all companies: leave out --company and --shard", {
      hint: "Without --all, `status` shows the chosen companies alone.",
    });
  const nowMs = context.clock.nowMs();
  const maxAgeMs = options.maxAge ?? null;
  const times = { maxAgeMs, freshForMs: maxAgeMs ?? readyLimits(config.schedule, nowMs).freshForMs, nowMs };
  const companies: Record<string, StatusOfBooks> = {};
  const scopes = companyScopes(context, config, options.shard);
  for (const scope of scopes) {
    const { clock, log } = context;
    const question = { ...scope, ...times, clock, log };
    companies[scope.company.name] = await readMirror(scope, (db) => {
      const status = readStatus({ ...question, db });
      if (!db || !status.mirrored) return { ...status, hand_overs: [], answers: null };
      // A snapshot and its views cost more than all the rest of a status.
      const answers = scopes.length === 1 ? answersOf(scope, nowMs) : null;
      return { ...status, hand_overs: new HandOverCounts().read(db, scope.manifest), answers };
    });
  }
  const { columns } = context.output;
  const lines = Object.entries(companies).flatMap(([name, one]) => [
    ...statusLines(name, one, nowMs, columns),
    ...one.hand_overs.flatMap(({ month, at, changed }) => {
      const since = `${month} was handed over on ${at.slice(0, 10)}; ${counted(changed, "document")} changed since`;
      return changed > 0 ? [`  ${since}: \`package --month ${month}\``] : [];
    }),
    ...Object.values(one.answers ?? {}).map((sentence) => `  ${sentence}`),
  ]);
  const shards = isOfSome ? null : judgeShards(companies, times.freshForMs, nowMs);
  lines.push(...shardLines(shards, options.all, nowMs));
  if (config.fleet && Object.values(companies).some(({ mirrored }) => !mirrored))
    lines.push("this is about mirrors on this machine; `fleet status` shows those of the fleet");
  await context.print({ companies, shards }, lines);
  return worstOutcome([
    ...Object.values(companies).map(statusOutcome),
    ...(shards?.some(({ missing }) => missing) ? (["difference"] as const) : []),
  ]);
};

type StatusOfBooks = CompanyStatus & {
  readonly hand_overs: readonly HandOverState[];
  /** What the report's questions say that concern everybody, by their name; null: several companies are shown. */
  readonly answers: Readonly<Record<string, string>> | null;
};

function answersOf({ config, files, manifest }: CompanyScope, nowMs: number): Record<string, string> {
  const reportDate = localDate(nowMs, config.schedule.timezone);
  using snapshot = openSnapshot(files.mirror, manifest, { reportDate });
  const answers = (manifest.questions ?? []).flatMap(({ name, sql, inStatus }) => {
    // The columns of a question are its own: `inStatus` stands beside its SQL.
    const sentence = inStatus?.(snapshot.db.prepare(sql).get() as Parameters<typeof inStatus>[0]);
    return sentence ? [[name, sentence] as const] : [];
  });
  return Object.fromEntries(answers);
}
