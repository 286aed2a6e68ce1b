import { join } from "node:path";
import { onTestFinished } from "vitest";
import { defineResource } from "../../../src/connector/resource.ts";
import type { Manifest } from "../../../src/connector/connector-manifest.ts";
import type { Resource } from "../../../src/connector/resource.ts";
import * as schema from "../../../src/connector/record-schema.ts";
import { openMirror, type Mirror } from "../../../src/state/mirror.ts";
import { systemClock } from "../../../src/base/clock.ts";
import type { StoreNotices } from "../../../src/store/apply/table-context.ts";
import { tempFolder } from "../temporary-folder.ts";

const {
  boolean,
  children,
  date,
  decimal,
  idOf,
  integer,
  json,
  nested,
  orNull,
  owned,
  record,
  snapshot,
  text,
  timestamp,
} = schema;

const shop = record({ name: text() });
const colour = record({ id: integer(), label: text() });
const counter = record({ id: integer(), documentType: text(), next: integer() });
const person = record({ id: integer(), name: text(), email: orNull(text()), score: orNull(decimal()) });
const note = record({
  id: integer(),
  body: orNull(text()),
  personId: orNull(idOf("people")),
  attachments: children("note_attachments", record({ id: integer(), name: text() })),
});
const receipt = record({
  id: integer(),
  documentType: orNull(text()),
  documentId: orNull(integer()),
  amount: decimal(),
});
const buyer = record({ name: text(), city: orNull(text()), country: orNull(nested("colours", colour)) });
const line = record({ id: integer(), title: orNull(text()), quantity: orNull(decimal()) });

const order = record({
  id: integer(),
  number: text(),
  total: decimal(),
  paid: orNull(boolean()),
  issuedOn: orNull(date()),
  changedAt: orNull(timestamp()),
  extra: orNull(json(schema.record({}))),
  colourId: orNull(idOf("colours")),
  colour: orNull(nested("colours", colour)),
  buyer: orNull(snapshot(buyer)),
  lines: children("order_lines", line),
  receipts: owned("receipts", receipt),
  remark: orNull(text()),
});

const orderPreview = record({ id: integer(), number: text(), total: decimal() });

/** A small shop with one resource of each kind the store and the run have to deal with. */
export const resources: Readonly<Record<string, Resource>> = {
  shop: defineResource({
    name: "shop",
    singular: "shop",
    title: "Shop",
    origin: "published",
    record: shop,
    list: { kind: "single", path: "/shop" },
  }),
  colours: defineResource({
    name: "colours",
    singular: "colour",
    title: "Colours",
    origin: "published",
    record: colour,
    list: { kind: "whole", path: "/colours" },
  }),
  counters: defineResource({
    name: "counters",
    singular: "counter",
    title: "Counters",
    origin: "published",
    record: counter,
    list: {
      kind: "whole",
      path: "/counters",
      variants: { param: "documentType", values: ["order", "credit-note"], field: "documentType" },
    },
  }),
  people: defineResource({
    name: "people",
    singular: "person",
    title: "People",
    origin: "published",
    record: person,
    list: { kind: "paged", path: "/people", perPage: 2, params: { sortBy: "id" } },
    detail: "/people/{id}",
  }),
  orders: defineResource({
    name: "orders",
    singular: "order",
    title: "Orders",
    origin: "published",
    record: order,
    preview: orderPreview,
    list: { kind: "paged", path: "/orders", perPage: 3, params: {} },
    detail: "/orders/{id}",
  }),
  receipts: defineResource({
    name: "receipts",
    singular: "receipt",
    title: "Receipts",
    origin: "published",
    record: receipt,
    list: {
      kind: "owned",
      by: [{ resource: "orders", type: "order", typeField: "documentType", idField: "documentId" }],
    },
    detail: "/receipts/{id}",
  }),
  notes: defineResource({
    name: "notes",
    singular: "note",
    title: "Notes",
    origin: "published",
    record: note,
    list: {
      kind: "parents",
      path: "/notes",
      perPage: 2,
      parents: [{ resource: "people", param: "personId", field: "personId" }],
    },
    detail: "/notes/{id}",
  }),
};

export function resourceOf(name: string): Resource {
  const found = resources[name];
  if (!found) throw new Error(`the shop has no ${name}`);
  return found;
}

export function manifestOf(list: readonly Resource[] = Object.values(resources)): Manifest {
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
  readonly manifest?: Manifest;
  readonly notices?: StoreNotices;
}

/** When the change log of a new mirror begins with 1. */
export const numberedFromOne = { ...systemClock, nowMs: () => Date.UTC(2026, 0, 1) };

/** A mirror of the shop in a real file, closed when the test ends. Its changes are numbered from 1. */
export async function openShop(options: OpenShop = {}): Promise<Mirror> {
  const path = options.path ?? join(tempFolder(), "shop.db");
  const mirror = await openMirror(path, options.manifest ?? manifestOf(), options.notices, {
    clock: numberedFromOne,
  });
  onTestFinished(() => mirror.close());
  return mirror;
}

/** The same without waiting for the disk at each commit: for properties that commit thousands of times. */
export async function openHasty(options: OpenShop = {}): Promise<Mirror> {
  const mirror = await openShop(options);
  mirror.db.pragma("synchronous = OFF");
  return mirror;
}

/** Closes the mirror, and opens it with a release of another decoding: its rows are derived again. */
export async function derivedAgain(mirror: Mirror, notices: StoreNotices = {}): Promise<Mirror> {
  const { manifest, db } = mirror;
  db.exec("UPDATE _derivations SET version = 'of another release'");
  mirror.close();
  return openShop({ path: db.name, manifest, notices });
}
