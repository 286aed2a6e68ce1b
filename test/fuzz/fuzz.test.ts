import { describe, test } from "vitest";
import { configWithToken } from "./config.ts";
import { exportTargets } from "./export.ts";

describe("for any config file", () => {
  // Fault: secrets | a token in the config beside mistakes | config file | the messages do not show it
  test("a token that stands in it is never shown, whatever it looks like and is beside", () =>
    configWithToken.round());
});

describe("for any rows", () => {
  test("a CSV file read by DuckDB holds the mirror's texts and numbers, and formulas behind one apostrophe", () =>
    exportTargets.csv.round());

  test("a Parquet file read by DuckDB holds the mirror's values", () => exportTargets.parquet.round());
});
