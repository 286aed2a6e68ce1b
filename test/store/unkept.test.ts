import { expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { stampOf } from "../support/mirror/store.ts";
import path from "node:path";

/** What differs() says of a preview, and which of its fields have no place anywhere. */
async function listed(preview: object): Promise<string[]> {
  const unkept: string[] = [];
  const onUnkept = (resource: string, paths: readonly string[]) =>
    unkept.push(...paths.map((one) => `${resource}.${one}`));
  const mirror = await openMirror(path.join(tempFolder(), "acme.db"), manifest, { onUnkept });
  const slice = Buffer.from(JSON.stringify(preview));
  mirror.apply(() => mirror.table("invoices").putPreview({ stamp: stampOf(mirror), id: 7, slice }));
  mirror.close();
  return unkept;
}

test("I12 a field that only a preview shows cannot be kept, and is reported", async () => {
  expect(await listed({ id: 7, number: "1", reminders: 3, client: { name: "A", mood: "good" } })).toEqual([
    "invoices.reminders",
    "invoices.client.mood",
  ]);
});

test("I12 a field that previews begin to show is no news when the record has a column for it", async () => {
  expect(await listed({ id: 7, number: "1", note: "Ďakujeme", currency: { id: 1, shade: "blue" } })).toEqual(
    [],
  );
});
