import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import { all, get, one, openSandbox, type Dict } from "../support/sandbox/sandbox.ts";

describe("records", () => {
  test("a preview repeats its detail; lines, payments and notes stand in the detail only", async () => {
    const sandbox = await openSandbox();
    for (const path of ["/invoices", "/credit-notes", "/proformas", "/orders", "/quotations"]) {
      for (const preview of await all(sandbox, path)) {
        const { json } = await get(sandbox, `${path}/${String(preview["id"])}`);
        const { currency, ...rest } = preview;
        expect(json).toMatchObject(rest);
        expect(json["currencyId"]).toBe((currency as Dict)["id"]);
        expect((json["items"] as Dict[]).length).toBeGreaterThan(0);
        for (const key of ["items", "payments", "note"]) expect(preview).not.toHaveProperty(key);
      }
    }
  });

  test("the stock of an item is split by warehouse; a list may leave that to the record", async () => {
    const whole = await openSandbox();
    const lean = await openSandbox({ stocksInLists: false });
    const tracked = "/price-list-items?onlyWarehouseItems=true&stockFrom=1";
    const previews = (await get(lean, tracked)).data;
    expect(previews.length).toBeGreaterThan(0);
    for (const [i, record] of (await get(whole, tracked)).data.entries()) {
      const split = record["stocks"] as Dict[];
      expect(split.reduce((sum, { stockQuantity }) => sum + Number(stockQuantity), 0)).toBe(record["stock"]);
      expect((await get(lean, `/price-list-items/${String(record["id"])}`)).json).toEqual(record);
      const { stocks: _, ...rest } = record;
      expect(previews[i]).toEqual(rest);
    }
  });

  test("payments of a document come newest first, the same in its detail and in their list", async () => {
    const sandbox = await openSandbox({ records: 600 });
    const paid = await all(sandbox, "/invoices?paymentStatus=paid");
    let pairs = 0;
    for (const { id } of paid) {
      const detail = (await get(sandbox, `/invoices/${String(id)}`)).json["payments"] as Dict[];
      const listed = (await get(sandbox, `/document-payments?documentType=invoice&documentId=${String(id)}`))
        .data;
      expect(listed).toEqual(detail);
      const dates = detail.map(({ paymentDate }) => String(paymentDate));
      expect(dates).toEqual(dates.toSorted().toReversed());
      if (detail.length > 1) pairs++;
    }
    expect(pairs).toBeGreaterThan(0);
  });

  test("a PDF is one, names its document and its total, and comes as an attachment", async () => {
    const sandbox = await openSandbox();
    for (const path of [
      "/invoices",
      "/quotations",
      "/warehouse-outbound-receipts",
      "/warehouse-inbound-receipts",
    ]) {
      const record = await one(sandbox, path);
      const heard = await get(sandbox, `${path}/${String(record["id"])}/pdf`);
      expect(heard.headers.get("content-type")).toBe("application/pdf");
      expect(heard.headers.get("content-disposition")).toContain("attachment");
      expect(heard.text.startsWith("%PDF-1.4")).toBe(true);
      expect(heard.text.trimEnd().endsWith("%%EOF")).toBe(true);
      expect(heard.text).toContain(String(record["number"]));
      expect(heard.text).toContain(String(record["totalWithVat"]));
      const table = Number(/startxref\n(\d+)/.exec(heard.text)?.[1]);
      expect(heard.text.slice(table, table + 4)).toBe("xref");
    }
  });

  test("attachments come as a ZIP of the files the event names; an event without any is 404", async () => {
    const sandbox = await openSandbox();
    const logs = [...(sandbox.control.snapshot().get("contact_activity_logs")?.values() ?? [])] as Dict[];
    const full = logs.find(({ attachments }) => (attachments as Dict[]).length > 0);
    const empty = logs.find(({ attachments }) => (attachments as Dict[]).length === 0);
    const response = await fetch(`${sandbox.url}/contact-activity-logs/${String(full?.["id"])}/attachments`, {
      headers: { Authorization: `Bearer ${sandbox.token}` },
    });
    expect(response.headers.get("content-type")).toBe("application/zip");
    const names = zipNames(Buffer.from(await response.arrayBuffer()));
    expect(names).toEqual(((full ?? {})["attachments"] as Dict[]).map(({ name }) => name));
    expect((await get(sandbox, `/contact-activity-logs/${String(empty?.["id"])}/attachments`)).status).toBe(
      404,
    );
  });

  test("a subject of the register is found by name and by business id", async () => {
    const sandbox = await openSandbox();
    const found = (await get(sandbox, "/subjects?searchQuery=pekaren&legalForm=company&limit=3")).data;
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThanOrEqual(3);
    const id = String(found[0]?.["id"]);
    expect((await get(sandbox, `/subjects?searchQuery=${id}`)).data).toEqual([found[0]]);
    expect((await get(sandbox, `/subjects/${id}`)).json).toEqual(found[0]);
    expect((await get(sandbox, "/subjects/1")).status).toBe(404);
  });
});

/** Names by the directory at the end of the archive; every entry's content is read as well. */
function zipNames(zip: Buffer): string[] {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  const count = zip.readUInt16LE(end + 10);
  let at = zip.readUInt32LE(end + 16);
  return Array.from({ length: count }, () => {
    const length = zip.readUInt16LE(at + 28);
    const name = zip.subarray(at + 46, at + 46 + length).toString("utf8");
    const start = zip.readUInt32LE(at + 42) + 30 + length;
    const content = zip.subarray(start, start + zip.readUInt32LE(at + 24));
    expect(zip.readUInt32LE(at + 16)).toBe(crc32(content));
    at += 46 + length;
    return name;
  });
}
