import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { CompanyStatusView } from "../../src/status/company-view.ts";
import { service, companyView, daemonPages } from "../support/status/company-view.ts";
import { servePages } from "../support/webhook/webhook.ts";

async function read(path: string, ...views: readonly CompanyStatusView[]) {
  const page = await daemonPages(() => views)[path]?.();
  if (!page) throw new Error(`there is no ${path}`);
  return page;
}

/** Its status and its JSON. */
async function said(path: string, ...views: readonly CompanyStatusView[]): Promise<unknown> {
  const { status, body } = await read(path, ...views);
  return [status, JSON.parse(body)];
}

function unreadable(): never {
  throw new Error("disk I/O error");
}

test("over HTTP each page has its type, no sniffing, and every header once", async () => {
  const views = [companyView({ open: false })];
  const { url } = await servePages({ pages: daemonPages(() => views, systemClock) });
  const types = { healthz: "application/json", readyz: "application/json", metrics: "text/plain" };
  for (const [path, type] of Object.entries(types)) {
    const { headers, status } = await fetch(`${url}/${path}`);
    expect(status).toBe(path === "readyz" ? 503 : 200);
    expect(headers.get("content-type")).toContain(type);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-security-policy")).toBe("default-src 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
});

describe("the pages of serve", () => {
  test("/healthz is 200 as long as the process answers, whatever the companies are like", async () => {
    const sick = companyView({ open: false, service: service("unauthenticated", 0) });
    for (const views of [[], [sick]])
      expect(await said("/healthz", ...views)).toEqual([200, { status: "ok", version: "1.2.3" }]);
  });

  test("/readyz is 200 only if every company is ready, and shows each", async () => {
    const well = companyView();
    const sick = companyView({ company: "beta", service: service("unauthenticated", 0, "Unauthenticated.") });
    expect(await read("/readyz", well)).toMatchObject({ status: 200 });
    const refused = { service: "unauthenticated", service_message: "Unauthenticated." };
    const beta = { ready: false, reasons: ["the service does not take the token"], ...refused };
    const companies = { acme: { ready: true, service: "working" }, beta };
    expect(await said("/readyz", well, sick)).toMatchObject([503, { ready: false, companies }]);
  });

  test("/readyz is 503 before there is any company", async () => {
    const nothing = { ready: false, companies: {}, refused_elsewhere: {} };
    expect(await said("/readyz")).toEqual([503, nothing]);
  });

  test("/readyz is 503 when the status cannot be read", async () => {
    const page = await daemonPages(unreadable)["/readyz"]?.();
    expect(page?.status).toBe(503);
    expect(JSON.parse(page?.body ?? "")).toMatchObject({ ready: false, error: "disk I/O error" });
  });

  test("/metrics shows the companies as they are at the request", async () => {
    const views = [companyView()];
    const pages = daemonPages(() => views);
    const before = await pages["/metrics"]?.();
    views.push(companyView({ company: "beta" }));
    const after = await pages["/metrics"]?.();
    expect(before?.body).not.toContain('company="beta"');
    expect(after).toMatchObject({ status: 200, type: "text/plain; version=0.0.4; charset=utf-8" });
    expect(after?.body).toContain('fintoro_mirror_database_open{company="beta"} 1');
  });
});
