import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { get } from "../support/http/http-client.ts";
import { rejectionOf } from "../support/errors.ts";
import { json, page, serviceWith } from "../support/http/http.ts";
import { tempFolder } from "../support/temporary-folder.ts";

const pdfHead = { "content-type": "application/pdf" };
const protocol = { kind: "protocol", retryable: true };

test("HTML with 200 is tried again, and the JSON after it taken", async () => {
  const { http } = await serviceWith((answer, _, index) =>
    index === 0 ? page(answer) : json(answer, { ok: 1 }),
  );
  expect(await http.send(get("/x"))).toMatchObject({ attempts: 2 });
});

// Fault: service | HTML, text, nothing or an empty body in place of JSON, with a 2xx status | a server in the service's place | a retryable protocol error
test.each([
  ["HTML", { "content-type": "text/html" }, "<html>", 200],
  ["no content type", {}, "{}", 200],
  ["plain text", { "content-type": "text/plain" }, "{}", 200],
  ["an empty body", { "content-type": "application/json" }, "", 200],
  ["no content", {}, "", 204],
])("%s in place of JSON is a retryable error", async (_, headers, body, status) => {
  const { service, http } = await serviceWith((answer) => void answer.writeHead(status, headers).end(body), {
    attempts: 2,
  });
  expect(await rejectionOf(http.send(get("/x")))).toMatchObject(protocol);
  expect(service.asked).toHaveLength(2);
});

test("other JSON media types are accepted, and bytes of any type except an HTML page", async () => {
  const bytes = Buffer.from([37, 80, 68, 70, 0, 255]);
  const { http } = await serviceWith((answer, { url }) => {
    if (url.endsWith("page")) return page(answer);
    const type = url.endsWith("pdf") ? "application/pdf" : "Application/Vnd.Api+JSON; charset=utf-8";
    answer.writeHead(200, { "content-type": type }).end(url.endsWith("pdf") ? bytes : "{}");
    return undefined;
  });
  expect((await http.send(get("/x"))).status).toBe(200);
  expect((await http.send(get("/pdf", { expect: "bytes" }))).body).toEqual(bytes);
  expect(await rejectionOf(http.send(get("/page", { expect: "bytes" })))).toMatchObject(protocol);
});

test("bytes go into a file, unpacked, and replace what an attempt before left there", async () => {
  const { http } = await serviceWith((answer, { url }) => {
    const content = Buffer.alloc(url.endsWith("empty") ? 0 : 100_000, "%PDF");
    const isPacked = !url.endsWith("plain");
    answer.writeHead(200, { ...pdfHead, ...(isPacked && { "content-encoding": "gzip" }) });
    answer.end(isPacked && content.length > 0 ? gzipSync(content) : content);
  });
  const into = join(tempFolder(), "answer");
  for (const [url, size] of Object.entries({ "/plain": 100_000, "/packed": 100_000, "/empty": 0 })) {
    const { body } = await http.send(get(url, { expect: "bytes", into }));
    const isWhole = readFileSync(into).equals(Buffer.alloc(size, "%PDF"));
    expect([url, body.length, isWhole]).toEqual([url, 0, true]);
  }
});

// Fault: files | a file for an answer cannot be written | a file in the place of its folder | an error of the disk, not of the network; nothing is tried again
test("a file that cannot be written is an error of the disk, and asks once", async () => {
  const { http, service } = await serviceWith((answer) => void answer.writeHead(200, pdfHead).end("%PDF"));
  const folder = join(tempFolder(), "folder");
  writeFileSync(folder, "");
  const call = http.send(get("/x", { expect: "bytes", into: join(folder, "answer") }));
  expect(await rejectionOf(call)).toMatchObject({ kind: "database" });
  expect(service.asked).toHaveLength(1);
});

// Fault: service | an HTML page as the answer to a deletion | a server in the service's place | no confirmation
test("a deletion is confirmed by 204 or an empty 200, not by an HTML page", async () => {
  const { http } = await serviceWith((answer, { url }) => {
    if (url.endsWith("page")) page(answer);
    else answer.writeHead(url.endsWith("204") ? 204 : 200).end();
  });
  const remove = (path: string) => http.send({ method: "DELETE", path, expect: "nothing" });
  expect((await remove("/204")).status).toBe(204);
  expect((await remove("/200")).body).toHaveLength(0);
  expect(await rejectionOf(remove("/page"))).toMatchObject(protocol);
});
