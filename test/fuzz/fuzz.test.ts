import { describe, test } from "vitest";
import { answersWithOddRecords } from "./answers.ts";
import { configTargets } from "./config.ts";
import { exportTargets } from "./export.ts";
import { grownColumns } from "./growth.ts";
import { statementsOfAssistants } from "./queries.ts";
import { bytesToTheReceiver } from "./receiver.ts";
import { signedHeaders } from "./signature.ts";

describe("for any headers and body of a delivery", () => {
  // Fault: webhook | headers missing, doubled, changed, or signed by another secret | request headers | refused for the right reason, nothing stored
  test("it is stored when it is signed, timely and complete, and otherwise refused for the first reason", () =>
    signedHeaders.round());
});

describe("for any bytes on the receiver's port", () => {
  // Fault: webhook | damaged, pipelined, endless and cut requests, CONNECT, upgrades, resets | raw sockets | refused or cut off; 204 only for what is committed (I6)
  test("I6 2xx is for what is committed, the next delivery is taken, and no connection outlives its deadline", () =>
    bytesToTheReceiver.round());
});

describe("for any statement of an assistant", () => {
  test("it writes nothing, reads nothing else, and fails with a reason or is answered with freshness", () =>
    statementsOfAssistants.round());
});

describe("for any config file", () => {
  test("it loads, or each mistake has its line and column, and no secret is shown", () =>
    configTargets.files.round());

  // Fault: secrets | a token in the config beside mistakes | config file | the messages do not show it
  test("a token that stands in it is never shown, whatever it looks like and is beside", () =>
    configTargets.literals.round());
});

describe("for any rows", () => {
  test("a CSV file read by DuckDB holds the mirror's texts and numbers, and formulas behind one apostrophe", () =>
    exportTargets.csv.round());

  test("a Parquet file read by DuckDB holds the mirror's values", () => exportTargets.parquet.round());
});

describe("for any unknown fields, of whatever names and changing types", () => {
  // Fault: data | unknown fields with colliding, numeric, long and reserved names, and values of any type | records, in any order | each in its own column, the mirror whole, the report made (I2, I12)
  test("I12 each stands in its own column, the change log replays (I2), and the report is made", () =>
    grownColumns.round());
});

describe("for any records and lists that are not what the service promises", () => {
  // Fault: data | records with other types, nulls, nested lists, huge numbers, odd unicode, without an id, or no records; a list that is none | answers of a whole run | each record is a row or in quarantine with the reason, all others are right, the mirror agrees with itself (I12)
  test("I12 a run ends, keeps each of them, mirrors all others, and is whole again when they are right", () =>
    answersWithOddRecords.round());
});
