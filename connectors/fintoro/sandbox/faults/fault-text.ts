import { MirrorError } from "../../../../src/base/errors.ts";
import { unknownName } from "../../../../src/base/names.ts";
import { faultKinds, moments, type Fault } from "./service-fault.ts";

const names = [...Object.values(faultKinds).flat(), "latency", "429"];

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
  if (name === "latency") return { ...scope, kind: name, latencyMs: numberOf(part, detail ?? value ?? "") };
  const probability = value === undefined ? 1 : numberOf(part, value);
  if (probability > 1) throw unreadable(part, "has a probability above 1");
  return { ...scope, ...actOf(part, name, detail), probability };
}

function actOf(part: string, kind: string, detail: string | undefined): Fault {
  if (/^[3-5]\d\d$/.test(kind)) {
    const retryAfterS = detail === "-" ? null : numberOf(part, detail ?? "0");
    return { kind: "status", status: Number(kind), ...(detail !== undefined && { retryAfterS }) };
  }
  const { plain, moment, bytes } = faultKinds;
  if (plain.includes(kind) || (moment.includes(kind) && detail === undefined)) return { kind };
  if (bytes.includes(kind)) return { kind, sizeBytes: numberOf(part, detail ?? "50000000") };
  if (!moment.includes(kind))
    throw new MirrorError("usage", unknownName("fault", kind, names), { hint: grammar });
  const when = moments.find((one) => one === detail);
  if (!when) throw unreadable(part, `knows the moments ${moments.join(", ")}`);
  return { kind, when };
}

function numberOf(part: string, text: string): number {
  const value = Number(text);
  if (text === "" || !Number.isFinite(value) || value < 0) throw unreadable(part, "needs a number");
  return value;
}

function unreadable(part: string, why: string): MirrorError {
  return new MirrorError("usage", `fault "${part}" ${why}`, { hint: grammar });
}
