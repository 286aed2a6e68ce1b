import pino from "pino";
import { isoTime, type Clock } from "../base/clock.ts";
import type { Log, LogFields, LogLevel } from "../base/logger.ts";
import { plain } from "./plain-text.ts";
import { prettyLine, type LogRecord } from "./pretty-line.ts";
import type { Redaction } from "./redaction.ts";

export type LogFormat = "pretty" | "json";

export interface LogOptions {
  /** Takes one line, or several for `pretty`, without the line break at the end. */
  readonly write: (text: string) => void;
  readonly format: LogFormat;
  readonly level: LogLevel;
  readonly colour: boolean;
  readonly redaction: Redaction;
  readonly clock: Clock;
}

export interface AdjustableLog extends Log {
  setLevel(level: LogLevel): void;
}

/** `auto`: for a person at a terminal, for a collector everywhere else. */
export function logFormat(choice: "auto" | LogFormat, terminal: boolean): LogFormat {
  return choice === "auto" ? (terminal ? "pretty" : "json") : choice;
}

/** Guarantee: no secret that `redaction` knows leaves through here, in whatever part of a record it hides. */
export function createLogger(options: LogOptions): AdjustableLog {
  const { redaction, clock, format, colour } = options;
  const write = (line: string) => {
    const text = line.trimEnd();
    options.write(format === "json" ? text : prettyLine(JSON.parse(text) as LogRecord, colour));
  };
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${isoTime(clock.nowMs())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
  const speak =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (!logger.isLevelEnabled(level)) return;
      const data = plain(renamed(fields), {
        redact: redaction.apply,
        stacks: logger.isLevelEnabled("debug"),
      });
      logger[level](data, redaction.apply(message));
    };
  return {
    debug: speak("debug"),
    info: speak("info"),
    warn: speak("warn"),
    error: speak("error"),
    setLevel: (level) => {
      logger.level = level;
    },
  };
}

const ownNames = new Set(["level", "time", "msg"]);

/** A field never stands in for the record's own ones. */
function renamed(fields: LogFields): LogFields {
  const pairs = Object.entries(fields).map(([name, value]) => [
    ownNames.has(name) ? `${name}_` : name,
    value,
  ]);
  return Object.fromEntries(pairs) as LogFields;
}
