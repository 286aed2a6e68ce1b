const durationUnitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `90s`, `30m`, `26h`, `2d`, `500ms` -> milliseconds; null when it is none of these. */
export function parseDurationMs(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(text.trim());
  if (!match) return null;
  return Number(match[1]) * (durationUnitMs[match[2] ?? ""] ?? 0);
}

/** `256MB`, `64 kB`, `1GB` (powers of 1000), `1MiB` (powers of 1024) -> bytes; null when it is none. */
export function parseSizeBytes(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*(k|m|g)?(i)?b$/i.exec(text.trim());
  if (!match) return null;
  const base = match[3] ? 1024 : 1000;
  const power = ["", "k", "m", "g"].indexOf((match[2] ?? "").toLowerCase());
  return Math.round(Number(match[1]) * base ** power);
}

/** `12,500`. Not by Intl, whose first number takes 15 ms and 7 MB. */
export function formatCount(count: number): string {
  return String(count).replaceAll(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",");
}

/** `1 record`, `12,500 records` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** `1m 30s`, `45s`, `2h 05m`: the two largest units. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${String(seconds % 60).padStart(2, "0")}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h ${String(minutes % 60).padStart(2, "0")}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** `1m 30s`: since then, ISO. */
export function formatAge(iso: string, nowMs: number): string {
  return formatDuration(nowMs - Date.parse(iso));
}

export function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_950) return `${(bytes / 1e3).toFixed(1)} kB`;
  if (bytes < 999_950_000) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1e9).toFixed(2)} GB`;
}
