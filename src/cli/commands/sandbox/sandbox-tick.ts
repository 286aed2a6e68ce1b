import { MirrorError } from "../../../base/errors.ts";
import { formatDuration } from "../../../base/units.ts";
import { command, type CommandContext } from "../../program/command.ts";
import { durationMs, wholeNumber } from "../../program/option-specs.ts";
import { sandboxClientOptions, connectSandbox, type SandboxClient } from "./running-sandbox.ts";

interface DayReport {
  readonly changes: number;
  readonly of: number;
  readonly ended: boolean;
  readonly problem: string | null;
  readonly events: number;
  readonly kinds: Readonly<Record<string, number>>;
}

const lookEveryMs = 250;
const patienceMs = 60_000;

export const sandboxTickCommand = command({
  name: "sandbox tick",
  summary: "live a working day in a running sandbox, within a minute",
  options: {
    duration: durationMs("--duration <duration>", "how long the day takes (default 60s)"),
    changes: wholeNumber("--changes <n>", "how much happens (default 200)", { min: 1, max: 100_000 }),
    seed: wholeNumber("--seed <n>", "the same seed does the same work", { min: 0, max: 4_294_967_295 }),
    ...sandboxClientOptions,
  },
  async run(context, { options }) {
    const { duration = 60_000, changes = 200, seed } = options;
    const door = connectSandbox(context, options);
    await door.ask("POST", "/sandbox/tick", { durationMs: duration, changes, seed });
    const report = await watched(context, door, duration + patienceMs);
    if (report.problem !== null)
      throw new MirrorError("unavailable", `the sandbox failed: ${report.problem}`);
    if (context.globals.json) await context.output.json(report);
    else for (const line of summaryOf(report)) await context.output.line(line);
    return report.changes < report.of ? "interrupted" : "complete";
  },
});

/** Follows the day to its end, and ends it early when this program is told to stop. */
async function watched(context: CommandContext, door: SandboxClient, mostMs: number): Promise<DayReport> {
  const { clock, log, signal } = context;
  const startMs = clock.monotonicMs();
  let told = 0;
  while (clock.monotonicMs() - startMs < mostMs) {
    if (signal.aborted) await door.ask("DELETE", "/sandbox/tick");
    const report = (await door.ask("GET", "/sandbox/tick")) as DayReport;
    const tenths = Math.floor((report.changes * 10) / report.of);
    if (tenths > told) {
      const { changes, of, events } = report;
      log.info("the day goes on", {
        changes,
        of,
        events,
        after: formatDuration(clock.monotonicMs() - startMs),
      });
    }
    told = Math.max(told, tenths);
    if (report.ended) return report;
    await clock.sleep(lookEveryMs, signal.aborted ? undefined : signal);
  }
  throw new MirrorError("unavailable", "the sandbox does not come to the end of its day");
}

function summaryOf({ changes, of, events, kinds }: DayReport): string[] {
  const rows = Object.entries(kinds).toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const lines = rows.map(([kind, count]) => `${String(count).padStart(6)}  ${kind}`);
  return [`${changes} of ${of} changes, ${events} events`, ...lines];
}
