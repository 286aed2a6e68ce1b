import type { Clock } from "../../../src/base/clock.ts";
import { Redactor } from "../../../src/base/secret.ts";
import { createLogger } from "../../../src/log/log.ts";
import type { ProgressView, ResourceProgress } from "../../../src/log/progress.ts";

const escape = String.fromCodePoint(27);
const sequences = new RegExp(String.raw`${escape}\[\??(\d*)([A-Zhl])|\n|\r|[^${escape}\n\r]+`, "g");

/** A terminal that understands the few sequences we send, to see what a person would see. */
export function createTerminal(columns = 80, rows = 24) {
  const lines: string[] = [""];
  let row = 0;
  let hidden = false;
  const put = (text: string) => {
    lines[row] = text === "" ? (lines[row] ?? "") : text;
  };
  const newLine = () => {
    row += 1;
    if (lines.length <= row) lines.push("");
  };
  const control = (count: number, code: string) => {
    if (code === "A") row = Math.max(0, row - count);
    if (code === "J") lines.splice(row, lines.length, "");
  };
  return {
    isTTY: true,
    columns,
    rows,
    write(text: string) {
      // every line we send is whole: text, perhaps "clear to the right", line break
      for (const [token, digits, code] of text.matchAll(sequences)) {
        if (token === "\n") newLine();
        else if (token === "\u001B[?25l" || token === "\u001B[?25h") hidden = token.endsWith("l");
        else if (code !== undefined) control(Number(digits || 1), code);
        else if (token !== "\r") put(token);
      }
    },
    /** The lines on the screen, without empty ones at the end. */
    visible: () => lines.join("\n").trimEnd().split("\n"),
    cursorHidden: () => hidden,
  };
}

/** A clock whose time passes only in `sleep`, at once, and lets other work have its turn. */
export function jumpingClock(startMs = 0): Clock & { readonly slept: number[] } {
  let nowMs = startMs;
  const slept: number[] = [];
  return {
    slept,
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        setImmediate(() => {
          if (!signal?.aborted) {
            nowMs += ms;
            slept.push(ms);
          }
          resolve();
        });
      }),
  };
}

export function recordingLog(
  options: Partial<Parameters<typeof createLogger>[0]> = {},
  secrets: readonly string[] = [],
) {
  const lines: string[] = [];
  const redaction = new Redactor();
  redaction.add(secrets);
  const log = createLogger({
    write: (line) => lines.push(line),
    format: "json",
    level: "info",
    colour: false,
    redaction,
    clock: jumpingClock(Date.UTC(2026, 10, 21, 2, 15)),
    ...options,
  });
  return { log, lines, records: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

export function resource(name: string, facts: Partial<ResourceProgress> = {}): ResourceProgress {
  return { name, phase: "listing", done: 0, total: null, changed: 0, ...facts };
}

export function view(facts: Partial<ProgressView> = {}): ProgressView {
  return {
    company: "acme",
    elapsedMs: 65_000,
    resources: [],
    requests: 57,
    queued: 0,
    scrub: null,
    budget: { limit: 120, granted: 120, remaining: 63, waitMs: 0 },
    windowMs: 60_000,
    ...facts,
  };
}
