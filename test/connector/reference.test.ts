import { existsSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { compareWithReference } from "../../src/connector/drift/drift.ts";

/** The vendor's reference is not part of the project; where it is beside it, the connector is compared with it. */
const file = new URL("../../../shared/reference/fintoro-openapi.yaml", import.meta.url);
const isThere = existsSync(file);

const absent = isThere ? "" : " (absent here: nothing compared)";

describe.runIf(isThere)(`the fintoro connector against the vendor's reference${absent}`, () => {
  const published: unknown = isThere ? parse(readFileSync(file, "utf8")) : {};

  it("has no drift of any severity", () => {
    expect(compareWithReference(declaration, published)).toEqual([]);
  });
});
