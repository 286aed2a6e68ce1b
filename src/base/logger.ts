export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

export type LogFields = Readonly<Record<string, unknown>>;

/** Every layer logs here; `log/` decides where and how the lines are written. */
export type Log = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>>;

const nothing = () => undefined;
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
