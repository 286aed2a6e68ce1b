import pino from "pino";
import { isoTime, type Clock } from "../base/clock.ts";
import type { Log, LogFields, LogLevel } from "../base/logger.ts";
import { Redactor } from "../base/secret.ts";
import { safeJson } from "../base/terminal-text.ts";
import { toLogData } from "./log-data.ts";
import { prettyLine, type LogRecord } from "./pretty-line.ts";

/** Lines for people, or JSON lines. */
export type LogFormat = "pretty" | "json";

/** Settings of a logger. */
export interface LogOptions {
  /** Takes one line, or several for `pretty`, without the line break at the end. */
  readonly write: (text: string) => void;
  readonly format: LogFormat;
  readonly level: LogLevel;
  readonly colour: boolean;
  readonly redaction: Redaction;
  readonly clock: Clock;
}

/** A log whose level can change while it is used. */
export interface AdjustableLog extends Log {
  setLevel(level: LogLevel): void;
}

/** `auto`: pretty for a terminal, JSON for everything else. */
export function logFormat(choice: "auto" | LogFormat, terminal: boolean): LogFormat {
  if (choice !== "auto") return choice;
  return terminal ? "pretty" : "json";
}

/** Creates a log that shows no secret known to `redaction`, wherever in a record it is (I9). */
export function createLogger({ write, redaction, clock, format, level, colour }: LogOptions): AdjustableLog {
  const writeRecord = (line: string) => {
    const text = line.trimEnd();
    write(format === "json" ? safeJson(text) : prettyLine(JSON.parse(text) as LogRecord, colour));
  };
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${isoTime(clock.nowMs())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: writeRecord },
  );
  const at =
    (lineLevel: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (!logger.isLevelEnabled(lineLevel)) return;
      const options = { redact: redaction.apply, stacks: logger.isLevelEnabled("debug") };
      logger[lineLevel](toLogData(withoutOwnNames(fields), options), redaction.apply(message));
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    setLevel: (changed) => {
      logger.level = changed;
    },
  };
}

const ownNames = new Set(["level", "time", "msg"]);

/** A field does not replace one of the record's own. */
function withoutOwnNames(fields: LogFields): LogFields {
  const pairs = Object.entries(fields);
  return Object.fromEntries(pairs.map(([name, value]) => [ownNames.has(name) ? `${name}_` : name, value]));
}

/** The secrets known so far, none at first; the config adds its own when it is read. */
export class Redaction {
  readonly #redactor = new Redactor();

  add(secrets: readonly string[]): void {
    this.#redactor.add(secrets);
  }

  /** The text without them. */
  readonly apply = (text: string): string => this.#redactor.replace(text);
}
