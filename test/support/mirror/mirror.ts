import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { defineResource, type Resource } from "../../../src/connector/resource.ts";
import type { ConnectorDeclaration } from "../../../src/connector/connector-declaration.ts";
import * as s from "../../../src/connector/record-schema.ts";
import { openMirror, type Mirror } from "../../../src/state/mirror.ts";
import { systemClock } from "../../../src/base/clock.ts";
import type { Log } from "../../../src/base/logger.ts";
import { tempFolder } from "../temporary-folder.ts";

const shop = s.record({ name: s.text() });
const colour = s.record({ id: s.integer(), label: s.text() });
const counter = s.record({ id: s.integer(), documentType: s.text(), next: s.integer() });
const person = s.record({
  id: s.integer(),
  name: s.text(),
  email: s.orNull(s.text()),
  score: s.orNull(s.decimal()),
});
const note = s.record({
  id: s.integer(),
  body: s.orNull(s.text()),
  personId: s.orNull(s.idOf("people")),
  attachments: s.children("note_attachments", s.record({ id: s.integer(), name: s.text() })),
});
const receipt = s.record({
  id: s.integer(),
  documentType: s.orNull(s.text()),
  documentId: s.orNull(s.integer()),
  amount: s.decimal(),
});
const buyer = s.record({
  name: s.text(),
  city: s.orNull(s.text()),
  country: s.orNull(s.nested("colours", colour)),
});
const line = s.record({ id: s.integer(), title: s.orNull(s.text()), quantity: s.orNull(s.decimal()) });

const order = s.record({
  id: s.integer(),
  number: s.text(),
  total: s.decimal(),
  paid: s.orNull(s.boolean()),
  issuedOn: s.orNull(s.date()),
  changedAt: s.orNull(s.timestamp()),
  extra: s.orNull(s.json(s.record({}))),
  colourId: s.orNull(s.idOf("colours")),
  colour: s.orNull(s.nested("colours", colour)),
  buyer: s.orNull(s.snapshot(buyer)),
  lines: s.children("order_lines", line),
  receipts: s.owned("receipts", receipt),
  remark: s.orNull(s.text()),
});

const orderPreview = s.record({ id: s.integer(), number: s.text(), total: s.decimal() });

type Shaped = Pick<Parameters<typeof defineResource>[0], "record" | "preview" | "list">;

/** A resource as a connector declares it, with a route of its own unless that is said. */
export function published(name: string, singular: string, shaped: Shaped, hasDetail = true): Resource {
  const detail = hasDetail ? { detail: `/${name}/{id}` } : {};
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  return defineResource({ name, singular, title, ...shaped, ...detail });
}

const whole = (path: string) => ({ kind: "whole", path }) as const;
const paged = (path: string, perPage: number, params = {}) =>
  ({ kind: "paged", path, perPage, params }) as const;
const variants = { param: "documentType", values: ["order", "credit-note"], field: "documentType" };
const inVariants = { ...whole("/counters"), variants };
const ofOrders = { resource: "orders", type: "order", typeField: "documentType", idField: "documentId" };
const ofPeople = { resource: "people", param: "personId", field: "personId" };
const ofParents = { kind: "parents", path: "/notes", perPage: 2, parents: [ofPeople] } as const;

/** A small shop with one resource of each kind the store and the run have to deal with. */
export const resources: Readonly<Record<string, Resource>> = {
  shop: published("shop", "shop", { record: shop, list: { kind: "single", path: "/shop" } }, false),
  colours: published("colours", "colour", { record: colour, list: whole("/colours") }, false),
  counters: published("counters", "counter", { record: counter, list: inVariants }, false),
  people: published("people", "person", { record: person, list: paged("/people", 2, { sortBy: "id" }) }),
  orders: published("orders", "order", { record: order, preview: orderPreview, list: paged("/orders", 3) }),
  receipts: published("receipts", "receipt", { record: receipt, list: { kind: "owned", by: [ofOrders] } }),
  notes: published("notes", "note", { record: note, list: ofParents }),
};

/** The shop with people of other fields, as a later version of the connector declares them. */
export function withPeople(fields: Parameters<typeof s.record>[0]): ConnectorDeclaration {
  const record = s.record({ id: s.integer(), ...fields });
  const people = published("people", "person", { record, list: paged("/people", 2) });
  return declarationOf(Object.values({ ...resources, people }));
}

export function resourceOf(name: string): Resource {
  const found = resources[name];
  if (!found) throw new Error(`the shop has no ${name}`);
  return found;
}

export function declarationOf(list: readonly Resource[] = Object.values(resources)): ConnectorDeclaration {
  return {
    name: "shop",
    title: "Shop",
    baseUrl: "http://127.0.0.1/shop",
    limits: { requests: 100, windowMs: 1_000 },
    languages: ["en"],
    resources: list,
    events: [],
    cascades: [{ resource: "colours", dependent: "orders", column: "colour_id" }],
    identity: {
      resource: "shop",
      nameField: "name",
      businessIdColumn: "buyer_city",
      businessIdIn: ["orders"],
      proofs: [
        { field: "number", resources: ["orders"] },
        { field: "name", resources: ["people"] },
      ],
    },
    operations: [],
  };
}

export interface OpenShop {
  readonly path?: string;
  readonly declaration?: ConnectorDeclaration;
  readonly log?: Log;
}

/** When the change log of a new mirror begins with 1. */
const numberedFromOne = { ...systemClock, nowMs: () => Date.UTC(2026, 0, 1) };

/** A mirror of the shop in a real file, closed when the test ends. Its changes are numbered from 1. */
export async function openShop(options: OpenShop = {}): Promise<Mirror> {
  const { path = join(tempFolder(), "shop.db"), declaration = declarationOf(), ...more } = options;
  const mirror = await openMirror(path, declaration, { ...more, clock: numberedFromOne });
  onTestFinished(() => mirror.close());
  return mirror;
}

/** The same without waiting for the disk at each commit: for properties that commit thousands of times. */
export async function openHasty(options: OpenShop = {}): Promise<Mirror> {
  const mirror = await openShop(options);
  mirror.db.pragma("synchronous = OFF");
  return mirror;
}

/** Closes the mirror, and opens its file again as the next process does. */
export async function openAgain(mirror: Mirror, options: OpenShop = {}): Promise<Mirror> {
  mirror.close();
  return openShop({ path: mirror.db.name, ...options });
}

/** Opens it again with a release of another decoding: its rows are derived again. */
export async function derivedAgain(mirror: Mirror): Promise<Mirror> {
  mirror.db.exec("UPDATE _derivations SET version = 'of another release'");
  return openAgain(mirror, { declaration: mirror.declaration });
}

/** Takes a step in a transaction that fails at its end. */
export function rollBack(mirror: Mirror, step: () => unknown): void {
  const failing = () => {
    step();
    throw new Error("the power went");
  };
  expect(() => mirror.apply(failing)).toThrow("the power went");
}
