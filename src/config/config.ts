import type { z } from "zod";
import type { Secret } from "../base/secret.ts";
import type { configSchema } from "./config-schema.ts";

/** A value that nobody can change, with everything in it. */
type Frozen<T> = T extends Secret | string | number | boolean | null
  ? T
  : { readonly [K in keyof T]: Frozen<T[K]> };

/** The whole configuration: complete (defaults filled in), checked, frozen. Numbers carry their unit. */
export type Config = Frozen<z.output<ReturnType<typeof configSchema>>>;

export type CompanyConfig = Config["companies"][number];

export type ResourceChoice = Config["resources"];

/** When `serve` starts runs and publishes: cron patterns, `after_sync`, or null for never. */
export type ScheduleConfig = Config["schedule"];

export type ExportConfig = Config["exports"][number];
