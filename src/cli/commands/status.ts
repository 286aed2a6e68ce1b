import { localDate } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import { someOf } from "../../base/names.ts";
import { counted } from "../../base/units.ts";
import { freshForMs, runSchedule } from "../../config/cron-schedule.ts";
import { openSnapshot } from "../../state/mirror-snapshot.ts";
import { HandOverCounts } from "../../state/as-of/hand-overs.ts";
import { readStatus, statusOutcome, type CompanyStatus } from "../../status/read-status.ts";
import { statusLines } from "../../status/render/status-text.ts";
import { judgeShards, shardLines } from "../../status/shards.ts";
import { companyScopes, readMirror, type CompanyScope } from "../mirror/company-scope.ts";
import type { CommandRun } from "../program/command-table.ts";
import { forEachCompany } from "../runs/each-company.ts";

export const statusCommand: CommandRun<"status"> = async (context, { options, config }) => {
  const isOfSome = context.globals.company !== undefined || options.shard !== undefined;
  if (options.all && isOfSome)
    throw new MirrorError("usage", "--all is about all companies: leave out --company and --shard", {
      hint: "Without --all, `status` shows the chosen companies alone.",
    });
  const nowMs = context.clock.nowMs();
  const maxAgeMs = options.maxAge ?? null;
  const names = companyScopes(context, config, options.shard).map(({ company }) => company.name);
  const companies: Record<string, CompanyStatus> = {};
  const show = async (scope: CompanyScope) => {
    const { name } = scope.company;
    const { clock, log, output } = context;
    const { status, handOvers, answers } = await readMirror(scope, (db) => ({
      status: readStatus({ ...scope, maxAgeMs, nowMs, clock, log, db }),
      handOvers: db ? new HandOverCounts().read(db, scope.declaration) : [],
      // A snapshot and its views cost more than all the rest of a status.
      answers: db && names.length === 1 ? answersOf(scope, nowMs) : null,
    }));
    companies[name] = status;
    const pruned = handOvers.flatMap((one) => (one.pruned ? [one.month] : []));
    const lines = [
      ...statusLines(name, status, nowMs, output.columns),
      ...handOvers.flatMap(({ month, at, changed }) => {
        const day = localDate(Date.parse(at), config.schedule.timezone);
        const since = `${month} was handed over on ${day}; ${counted(changed, "document")} changed since`;
        return changed > 0 ? [`  ${since}: \`package --month ${month}\``] : [];
      }),
      ...(pruned.length > 0
        ? [`  changes since hand-overs are not all known, as older ones were pruned: ${someOf(pruned, 3)}`]
        : []),
      ...Object.values(answers ?? {}).map((sentence) => `  ${sentence}`),
    ];
    return { document: { ...status, hand_overs: handOvers, answers }, lines, outcome: statusOutcome(status) };
  };
  const finish = async () => {
    const freshMs = maxAgeMs ?? freshForMs(runSchedule(config.schedule), nowMs);
    const shards = isOfSome ? null : judgeShards(names, companies, freshMs, nowMs);
    const lines = shardLines(shards, options.all, nowMs);
    if (config.fleet && Object.values(companies).some(({ mirrored }) => !mirrored))
      lines.push("this is about mirrors on this machine; `fleet status` shows those of the fleet");
    const isMissing = shards?.some(({ missing }) => missing) ?? false;
    return { document: { shards }, lines, outcome: isMissing ? "difference" : "complete" } as const;
  };
  return forEachCompany(context, config, show, { failed: {}, finish, isAnswer: true, shard: options.shard });
};

function answersOf({ config, files, declaration }: CompanyScope, nowMs: number): Record<string, string> {
  const reportDate = localDate(nowMs, config.schedule.timezone);
  using snapshot = openSnapshot(files.mirror, declaration, { reportDate });
  const answers = (declaration.questions ?? []).flatMap(({ name, sql, inStatus }) => {
    // The columns of a question are its own: `inStatus` stands beside its SQL.
    const sentence = inStatus?.(snapshot.db.prepare(sql).get() as Parameters<typeof inStatus>[0]);
    return sentence ? [[name, sentence] as const] : [];
  });
  return Object.fromEntries(answers);
}
