import { expect, test } from "vitest";
import { cutLog } from "./points/wal-cuts.ts";

// Fault: disk | power loss: the write-ahead log ends at any 512 bytes of the last transactions | a copy of the mirror's files | the state after the last whole transaction, sound by itself; the next run ends equal to the service
test("I1 I2: a log that is cut off holds whole transactions only, and the next run completes them", async () => {
  const { transactions, cuts, broken } = await cutLog(4, 4);
  expect(broken).toEqual([]);
  expect({ transactions, enough: cuts > 100 }).toEqual({ transactions: 4, enough: true });
});
