import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { aCompany } from "../../support/company/company.ts";
import {
  deliver,
  eventAbout,
  serveHere,
  statusOf,
  wholeRuns,
  writeServeConfig,
} from "../../support/program/serve.ts";
import { eventually } from "../../support/eventually.ts";

test("the page of a real daemon says what status says, and is sent again only where it differs", async () => {
  const company = await aCompany({ records: 3 });
  writeServeConfig(company);
  const daemon = await serveHere(company);
  const page = async () => (await fetch(`${daemon.url}/`)).text();
  // A page that takes long to make is shown for a while.
  await eventually(() => wholeRuns(company) === 1, "a whole run");
  await eventually(async () => (await page()).includes("Everything is fresh as of"), "a fresh page");
  const { budget_minutes: minutes, health } = await statusOf(company);
  const records = health?.resources.reduce((sum, { live }) => sum + live, 0);
  const text = await page();
  expect(text).toContain(`<strong>${records}</strong>`);
  const requests = minutes.reduce((sum, one) => sum + one.requests, 0);
  expect(requests).toBeGreaterThan(20);
  expect(text).toContain(`${requests} requests in the last hour`);

  const tag = (await fetch(`${daemon.url}/`)).headers.get("etag") ?? "";
  expect((await fetch(`${daemon.url}/`, { headers: { "if-none-match": tag } })).status).toBe(304);
  expect((await daemon.end("SIGTERM")).code).toBe(0);
});

test("beyond this machine it shows nothing until a token is set; deliveries and probes go on", async () => {
  const company = await aCompany({ records: 3 });
  writeServeConfig(company);
  const daemon = await serveHere(company, { args: ["--listen", "0.0.0.0:0"] });
  const url = daemon.url.replace("0.0.0.0", "127.0.0.1");
  const get = async (path_: string, headers: Record<string, string> = {}) => fetch(url + path_, { headers });
  const refused = await get("/");
  expect(refused.status).toBe(403);
  expect(await refused.text()).toContain("serve.page_token");
  expect((await get("/healthz")).status).toBe(200);
  expect(await deliver({ url }, eventAbout("clients.updated", "client", 1))).toBe(204);
  const token = "a-token-of-the-pages-0123";
  writeFileSync(path.join(company.folder, "page.token"), `${token}\n`, { mode: 0o600 });
  writeServeConfig(company, 'serve: { page_token: "${file:page.token}" }\n');
  daemon.send("SIGHUP");
  await eventually(async () => (await get("/")).status === 401, "the token asked for");
  expect((await get("/", { authorization: `Bearer ${token}` })).status).toBe(200);
  writeFileSync(path.join(company.folder, "page.token"), "another-token-of-the-pages\n");
  expect((await get("/", { authorization: `Bearer ${token}` })).status).toBe(401);
  expect((await daemon.end("SIGTERM")).code).toBe(0);
});

// Fault: network | a proxy that sends no forwarding header and speaks HTTP/1.1 (a current nginx) | a request to `serve` as that proxy sends it | no record value without the token
test("behind a proxy that looks like this machine it shows nothing without the token that serve made", async () => {
  const company = await aCompany({ records: 3 });
  const { token } = company.sandbox;
  const webhook =
    '{ secrets: ["whsec_acme_0123456789"], public_url: "https://hooks.example.com/webhooks/acme" }';
  const lines = [
    `base_url: ${company.proxy.baseUrl}`,
    `companies: { acme: { token: ${token}, webhook: ${webhook} } }`,
  ];
  writeFileSync(
    path.join(company.folder, "config.yaml"),
    [...lines, "data_dir: .", "schedule: { publish: off }"].join("\n"),
  );
  const daemon = await serveHere(company);
  const file = path.join(company.folder, "page-token");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const made = readFileSync(file, "utf8").trim();
  for (const page of ["/", "/companies/acme", "/companies/acme/changes?q=a"])
    expect([page, (await fetch(daemon.url + page)).status]).toEqual([page, 403]);
  for (const probe of ["/healthz", "/readyz", "/metrics"])
    expect((await fetch(daemon.url + probe)).status).not.toBe(403);
  const shown = await fetch(`${daemon.url}/companies/acme`, { headers: { authorization: `Bearer ${made}` } });
  expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining("acme")]);
  expect(daemon.said().filter((line) => JSON.stringify(line).includes(made))).toEqual([]);
  expect((await daemon.end("SIGTERM")).code).toBe(0);
  const again = await serveHere(company);
  expect(readFileSync(file, "utf8").trim()).toBe(made);
  expect((await again.end("SIGTERM")).code).toBe(0);
});
