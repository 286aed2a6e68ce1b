import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SandboxOptions } from "../../connectors/fintoro/sandbox/sandbox.ts";
import type { Fault } from "../../connectors/fintoro/sandbox/service/faults.ts";
import {
  connect,
  type Connection,
  type ConnectOptions,
  ForbiddenError,
  MirrorError,
  NotFoundError,
  ServiceError,
} from "../../src/index.ts";
import { rejectionOf } from "../support/errors.ts";
import { entriesOf } from "../support/export/zip.ts";
import { collect } from "../support/http/client.ts";
import { untilTheEnd } from "../support/http/http.ts";
import { stubLog } from "../support/http/http-client.ts";
import type { Sandbox } from "../support/sandbox/control.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import { odd } from "../support/sandbox/odd-answers.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { count } from "../support/truth/compare.ts";

/** The library as its user has it, over real HTTP. */
function connectTo(sandbox: Sandbox, options: Partial<ConnectOptions> = {}): Connection {
  return untilTheEnd(connect({ token: sandbox.token, baseUrl: sandbox.url, ...options }));
}

/** A client, and the service it talks to, which may not stumble. */
async function openLive(options: SandboxOptions = {}) {
  const sandbox = await openSandbox(options);
  onTestFinished(() => expect(sandbox.control.failures()).toEqual([]));
  return { sandbox, client: connectTo(sandbox).client };
}

/** What was asked of the service since the test began: `POST /orders 201`; 0 where no answer was given. */
function asked(sandbox: Sandbox): string[] {
  return sandbox.requests().map(({ method, path, status }) => `${method} ${path} ${status}`);
}

const budgetFile = () => join(tempFolder(), "firma.budget.db");

describe("a connection", () => {
  it("aborts what is in flight when it is closed, and sends nothing afterwards; it may be closed twice", async () => {
    const sandbox = await openSandbox();
    sandbox.control.fault({ kind: "hang" });
    const connection = connectTo(sandbox);
    const { client } = connection;
    const hanging = rejectionOf(client.clients.list());
    await expect.poll(() => asked(sandbox)).toHaveLength(1);
    await connection.close();
    expect(await hanging).toMatchObject({ kind: "stopped" });
    expect(await rejectionOf(client.whoami())).toBeInstanceOf(MirrorError);
    expect(asked(sandbox)).toHaveLength(1);
    await expect(connection.close()).resolves.toBeUndefined();
  });

  it("logs what it repeats, and its token nowhere", async () => {
    const sandbox = await openSandbox();
    const log = stubLog();
    const { client } = connectTo(sandbox, { log });
    sandbox.control.fault({ ...odd("echo_token"), times: 1 });
    const error = await rejectionOf(client.clients.update(1, { name: "Ján" }));
    sandbox.control.fault({ kind: "status", status: 503, times: 1 });
    await client.whoami();
    expect(log.lines.map(({ message }) => message)).toContain("a request failed and is tried again");
    expect(JSON.stringify([log.lines, error, String(error)])).not.toContain(sandbox.token.slice(2));
  });

  it("throws the library's own error classes", async () => {
    const sandbox = await openSandbox();
    const { client } = connectTo(sandbox, { token: sandbox.readToken });
    const missing = await rejectionOf(client.orders.show(999_999));
    const forbidden = await rejectionOf(client.orders.delete(1));
    expect([missing instanceof NotFoundError, forbidden instanceof ForbiddenError]).toEqual([true, true]);
    expect([missing instanceof ServiceError, missing instanceof MirrorError]).toEqual([true, true]);
  });

  it.each(["fintoro", "http://app.fintoro.example"])(
    "to %s is refused before anything is opened",
    (baseUrl) => {
      const file = budgetFile();
      expect(() => connect({ token: "1|x", baseUrl, budgetFile: file })).toThrow(
        expect.objectContaining({ kind: "config", hint: expect.stringContaining("address") }),
      );
      expect(file).not.toSatisfy(existsSync);
    },
  );

  it.each(["", "1|made\nup", " 1|made-up", "1|skrátený…", undefined as unknown as string])(
    "with a token that cannot be one is refused, and does not show it: %j",
    (token) => {
      const file = budgetFile();
      expect(() => connect({ token, budgetFile: file })).toThrow(
        expect.objectContaining({ kind: "usage", message: expect.not.stringContaining("made") }),
      );
      expect(file).not.toSatisfy(existsSync);
    },
  );

  it("counts its requests in the budget's file, which all processes of a company share", async () => {
    const file = budgetFile();
    const connection = connectTo(await openSandbox(), { budgetFile: file });
    await connection.client.whoami();
    await connection.close();
    expect(count(file, "SELECT sum(requests) FROM minutes")).toBe(1);
  });
});

describe("the service", () => {
  it("gives every record of a list in pages once, as it is", async () => {
    const { client, sandbox } = await openLive({ records: 200 });
    const truth = sandbox.control.snapshot();
    const ids = (await collect(client.invoices.all({ perPage: 25, sortBy: "number" }))).map(({ id }) => id);
    const known = [...(truth.get("invoices")?.keys() ?? [])];
    expect(ids.toSorted((a, b) => a - b)).toEqual(known.toSorted((a, b) => a - b));
    expect(asked(sandbox)).toHaveLength(Math.ceil(known.length / 25));
    const clients = await client.clients.list();
    expect(new Map(clients.map((record) => [record.id, record]))).toEqual(truth.get("clients"));
  });

  it("answers in the client's language", async () => {
    const { client } = connectTo(await openSandbox(), { language: "sk" });
    const wish = client.businessCases.create({ name: "x", clientId: 999_999 });
    expect(await rejectionOf(wish)).toMatchObject({ serviceMessage: "Zadané údaje nie sú platné." });
  });

  it("gives back attachments byte for byte: uploaded, attached by their tokens, in an archive", async () => {
    const { client } = await openLive();
    const texts = { "zmluva č. 1.txt": "ľščťžýáíé\r\n", "b.txt": "" };
    const files = Object.entries(texts).map(([name, text]) => ({ name, text }));
    const uploads = await client.contactActivityAttachments.upload({
      files: files.map(({ name, text }) => new File([text], name, { type: "text/plain" })),
    });
    const attachmentUploadTokens = uploads.map(({ uploadToken }) => uploadToken);
    const { id: clientId } = await client.clients.create({ name: "Pekáreň" });
    const note = { clientId, type: "note", metadata: { content: "x" }, attachmentUploadTokens } as const;
    const { id } = await client.contactActivityLogs.create(note);
    expect(entriesOf(await client.contactActivityLogs.attachments(id))).toEqual(files);
  });

  const lost: readonly [string, Fault][] = [
    ["before its first byte", { kind: "reset", when: "before" }],
    ["half way", { kind: "reset", when: "half" }],
    ["as 503", { kind: "status", status: 503 }],
  ];
  it.each(lost)(
    "whose answer to a creation is lost %s is asked again with its key, and there is one record",
    async (_, fault) => {
      const { client, sandbox } = await openLive();
      sandbox.control.fault({ ...fault, times: 1, match: { method: "POST" } });
      const made = await client.clients.create({ name: "Stratený" });
      expect(asked(sandbox)).toEqual([`POST /clients ${fault.status ?? 0}`, "POST /clients 201"]);
      const records = [...(sandbox.control.snapshot().get("clients")?.values() ?? [])];
      const named = records.filter((record) => record["name"] === "Stratený");
      expect(named.map(({ id }) => id)).toEqual([made.id]);
    },
  );
});
