import { MirrorError } from "../../../../src/base/errors.ts";
import { faithful, type DeliveryShares } from "./delivery-faults.ts";

/** `duplicates:0.2,losses:0.2,reorder:0.5` */
export function parseShares(text: string): Partial<DeliveryShares> {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return Object.fromEntries(parts.map(parseShare));
}

function parseShare(part: string): [string, number] {
  const [name = "", value = "", ...rest] = part.split(":");
  const share = value === "" || rest.length > 0 ? Number.NaN : Number(value);
  if (name in faithful && share >= 0 && share <= 1) return [name, share];
  throw new MirrorError("usage", `webhook fault "${part}" cannot be read`, {
    hint: "write shares from 0 to 1 of duplicates, losses and reorder: duplicates:0.2,losses:0.1,reorder:0.5",
  });
}
