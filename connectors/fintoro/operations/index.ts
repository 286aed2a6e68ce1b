import type { Operation } from "../../../src/connector/operation.ts";

export const operations: readonly Operation[] = [];
