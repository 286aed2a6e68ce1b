import { MirrorError } from "../../../../src/base/errors.ts";
import { unknownName } from "../../../../src/base/names.ts";
import { plainFaults, type Fault, type FaultAct, type Moment } from "./service-fault.ts";

const plain = [...plainFaults, "content_type", "redirect", "redirect_same", "drip"] as const;
const momentary = ["reset", "hang"] as const;
const sized = ["huge_body", "gzip_bomb"] as const;
const names = [...plain, ...momentary, ...sized, "latency", "429"];

const grammar =
  "write faults as NAME[=DETAIL][:PROBABILITY][@PATH], separated by commas, for example 500:0.05,reset=half:0.01,latency=200,429=0@/invoices";

/**
 * `500:0.05,reset:0.01,latency:200` -> faults. A status is a number (`429=0` sends `Retry-After: 0`,
 * `429=-` omits it); `latency` takes milliseconds, `reset` and `hang` a moment, the big bodies bytes.
 *
 * @throws MirrorError `usage` where a fault is not understood
 */
export function parseFaults(text: string): Fault[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "").map(parseFault);
}

function parseFault(part: string): Fault {
  const match = /^([a-z0-9_]+)(?:=([^:@]+))?(?::([\d.]+))?(?:@(\/.*))?$/.exec(part);
  if (!match) throw unreadable(part, "cannot be read as a fault");
  const [, name = "", detail, value, path] = match;
  const scope = path === undefined ? {} : { match: { path } };
  if (name === "latency")
    return { ...scope, kind: "latency", latencyMs: numberOf(part, detail ?? value ?? "") };
  const probability = value === undefined ? 1 : numberOf(part, value);
  if (probability > 1) throw unreadable(part, "has a probability above 1");
  return { ...scope, ...actOf(part, name, detail), probability };
}

function actOf(part: string, name: string, detail: string | undefined): FaultAct {
  if (/^[3-5]\d\d$/.test(name)) {
    const status = Number(name);
    if (detail === undefined) return { kind: "status", status };
    return { kind: "status", status, retryAfterS: detail === "-" ? null : numberOf(part, detail) };
  }
  const simple = plain.find((kind) => kind === name);
  if (simple) return { kind: simple };
  const moment = momentary.find((kind) => kind === name);
  if (moment) return detail === undefined ? { kind: moment } : { kind: moment, when: momentOf(part, detail) };
  const big = sized.find((kind) => kind === name);
  if (big) return { kind: big, sizeBytes: detail === undefined ? 50_000_000 : numberOf(part, detail) };
  throw new MirrorError("usage", unknownName("fault", name, names), { hint: grammar });
}

function momentOf(part: string, text: string): Moment {
  if (text === "before" || text === "headers" || text === "half") return text;
  throw unreadable(part, "knows the moments before, headers and half");
}

function numberOf(part: string, text: string): number {
  const value = Number(text);
  if (text === "" || !Number.isFinite(value) || value < 0) throw unreadable(part, "needs a number");
  return value;
}

function unreadable(part: string, why: string): MirrorError {
  return new MirrorError("usage", `fault "${part}" ${why}`, { hint: grammar });
}
