import type { Operation } from "../../../src/connector/operation.ts";
import * as groups from "./groups.ts";

/** The whole table, for who compares or counts it. */
export const operations: readonly Operation[] = Object.values(groups).flatMap((group) =>
  Object.values<Operation>(group),
);
