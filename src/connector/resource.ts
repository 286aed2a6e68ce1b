import type { z } from "zod";
import type { Fields, Origin } from "./field.ts";
import { fieldsOf } from "./record-schema.ts";

/** How a resource is listed; every path is relative to the base URL. */
export type ListPlan =
  /** One object, no list (the token's identity). Its row has id 1. */
  | { readonly kind: "single"; readonly path: string }
  /** One answer holds everything; with variants, one answer for each value of a parameter. */
  | { readonly kind: "whole"; readonly path: string; readonly variants?: ListVariants }
  | PagedPlan
  /** No list of its own: one paginated list for each parent record. */
  | {
      readonly kind: "parents";
      readonly path: string;
      readonly perPage: number;
      readonly parents: readonly ParentLink[];
    }
  /** Comes inside the details of other resources, as a complete set. */
  | { readonly kind: "owned"; readonly by: readonly OwnerLink[] };

export interface PagedPlan {
  readonly kind: "paged";
  readonly path: string;
  /** The largest the service takes. */
  readonly perPage: number;
  /** Sent with every page: an ascending sort on a key that only grows, where there is one. */
  readonly params: Readonly<Record<string, string>>;
}

export interface ListVariants {
  readonly param: string;
  readonly values: readonly string[];
  /** The record's field that repeats the variant. */
  readonly field: string;
}

export interface ParentLink {
  /** The parent resource. */
  readonly resource: string;
  /** The query parameter that takes the parent's id. */
  readonly param: string;
  /** The record's field that holds the parent's id. */
  readonly field: string;
}

export interface OwnerLink {
  /** The owning resource and the value of `typeField` for it. */
  readonly resource: string;
  readonly type: string;
  readonly typeField: string;
  readonly idField: string;
}

/** A collection of the service and the table it becomes. */
export interface Resource {
  /** Table name: snake_case plural. */
  readonly name: string;
  /** `invoice`: the child tables' parent key is this and `_id`. */
  readonly singular: string;
  readonly title: string;
  readonly origin: Origin;
  /** The full record. Loose: unknown fields pass. */
  readonly record: z.ZodObject;
  readonly fields: Fields;
  readonly list: ListPlan;
  /** Lists give `full` records, or `preview`s whose fields are these. */
  readonly gives: "full" | "preview";
  readonly preview?: z.ZodObject;
  readonly previewFields?: Fields;
  /** A listed record without these keys is a preview after all: the record itself must be read. */
  readonly fullWhen?: readonly string[];
  /** `/invoices/{id}`; resources without a route of their own have none. */
  readonly detail?: string;
  /** Files of a record: `/invoices/{id}/pdf`. */
  readonly pdf?: string;
  readonly doc?: string;
  /** Columns that its records are looked up by, besides those that lists name. */
  readonly lookedUpBy?: readonly string[];
}

/** `/invoices/{id}` -> `/invoices/17` */
export function pathOf(template: string, id: number | bigint): string {
  return template.replace(/\{[^}]+\}/, String(id));
}

/** Does the mirror read this resource in requests of its own? */
export function isListed(resource: Resource): boolean {
  return resource.list.kind !== "owned";
}

type Declared = Omit<Resource, "fields" | "gives" | "previewFields">;

/** A resource as its connector declares it; the fields follow from the record types. */
export function defineResource(declared: Declared): Resource {
  const fields = fieldsOf(declared.record);
  if (!declared.preview) return Object.freeze({ ...declared, fields, gives: "full" });
  return Object.freeze({ ...declared, fields, gives: "preview", previewFields: fieldsOf(declared.preview) });
}
