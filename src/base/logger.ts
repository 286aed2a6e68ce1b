/** From the most talkative to the quietest. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
/** How important a line is. */
export type LogLevel = (typeof logLevels)[number];

/** Facts that go with a line, by name. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Every layer logs here; `log/` decides where and how the lines are written. */
export type Log = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>>;

const nothing = () => undefined;
/** Writes nothing. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
