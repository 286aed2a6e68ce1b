import type { LogLevel } from "../base/logger.ts";
import type { Secret } from "../base/secret.ts";

/** The whole configuration: complete (defaults filled in), checked, frozen. Numbers carry their unit. */
export interface Config {
  readonly connector: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Absolute. */
  readonly dataDir: string;
  /** Sent as `Accept-Language`. */
  readonly language: string;
  /** In the order of the file; never empty. */
  readonly companies: readonly CompanyConfig[];
  readonly resources: ResourceChoice;
  readonly rateLimit: RateLimitConfig;
  readonly http: HttpConfig;
  readonly schedule: ScheduleConfig;
  readonly serve: { readonly host: string; readonly port: number };
  readonly exports: readonly ExportConfig[];
  readonly files: { readonly pdf: boolean; readonly attachments: boolean };
  readonly log: { readonly level: LogLevel };
}

export interface CompanyConfig {
  readonly name: string;
  readonly token: Secret;
  readonly webhook: {
    /** The old and the new one during a rotation. */
    readonly secrets: readonly Secret[];
    /** Where each of them is from, in the same order. */
    readonly places: readonly SecretPlace[];
    readonly publicUrl: string | null;
  };
}

export type SecretPlace =
  | { readonly kind: "environment"; readonly name: string }
  /** Absolute. */
  | { readonly kind: "file"; readonly path: string }
  /** It stands in the config itself. */
  | { readonly kind: "config" };

export interface ResourceChoice {
  /** null: all of them. */
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[];
  /** For resources listed parent by parent: how many parents a run visits; absent means all. */
  readonly parentsPerRun: Readonly<Record<string, number>>;
}

interface RateLimitConfig {
  /** Left to other clients when there are any, 0 to 1. */
  readonly reserveShare: number;
  readonly windowMs: number;
  /** Of the budget, spent on re-reading the oldest details, 0 to 1. */
  readonly scrubShare: number;
}

interface HttpConfig {
  readonly concurrency: number;
  /** For one attempt, head and body together. */
  readonly timeoutMs: number;
  /** Inflated. */
  readonly maxResponseBytes: number;
}

export interface ScheduleConfig {
  /** A cron pattern; null is never. */
  readonly sync: string | null;
  /** `after_sync`, a cron pattern, or null for never. */
  readonly publish: string | null;
  readonly timezone: string;
}

export interface ExportConfig {
  readonly format: "csv" | "parquet" | "jsonl";
  /** Absolute. */
  readonly out: string;
  /** `s3://bucket/prefix`: sent there besides. */
  readonly to: string | null;
  readonly after: "sync" | null;
  readonly dialect: "standard" | "excel-sk";
  /** null: every table. */
  readonly tables: readonly string[] | null;
  readonly partitionBy: "year" | "month" | null;
  /** Parquet: child tables as columns of their parents. */
  readonly nested: boolean;
}

/** What the config must know of a connector; a Manifest is one. */
export interface KnownConnector {
  readonly name: string;
  readonly baseUrl: string;
  readonly languages: readonly string[];
  readonly resources: readonly { readonly name: string; readonly list: { readonly kind: string } }[];
}
