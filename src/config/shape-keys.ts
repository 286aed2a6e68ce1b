import type { z } from "zod";
import type { KeysAt } from "./config-problems.ts";

/** As much of a zod type as a walk along keys needs. */
interface ZodNode {
  readonly def?: { readonly innerType?: unknown; readonly valueType?: unknown; readonly element?: unknown };
  readonly shape?: Readonly<Record<string, unknown>>;
}

/** The keys that the map at a path may have: what a typo there most likely meant. */
export function knownKeys(shape: z.ZodType): KeysAt {
  return (path) => {
    const node = path.reduce<ZodNode | undefined>((current, key) => step(current, key), unwrapped(shape));
    return Object.keys(node?.shape ?? {});
  };
}

/** Defaults and optionals wrap the type that they are about. */
function unwrapped(node: unknown): ZodNode | undefined {
  let current = node as ZodNode | undefined;
  while (current?.def?.innerType !== undefined) current = current.def.innerType as ZodNode;
  return current;
}

function step(node: ZodNode | undefined, key: PropertyKey): ZodNode | undefined {
  return unwrapped(node?.shape?.[String(key)] ?? node?.def?.valueType ?? node?.def?.element);
}
