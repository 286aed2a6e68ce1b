import { z } from "zod";
import type { KnownConnector } from "./config.ts";
import { configShape } from "./config-schema.ts";

/** The config's JSON Schema, draft 7: the one that editors read. */
export function configJsonSchema(known: KnownConnector): Record<string, unknown> {
  const schema = z.toJSONSchema(configShape(known), { io: "input", target: "draft-7" });
  return { title: "fintoro-mirror config", ...schema };
}
