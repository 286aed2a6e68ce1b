import type { z } from "zod";
import { type Fields, type Origin, fieldsOf } from "./record-schema.ts";

/** How a resource is listed. Paths are relative to the base URL. */
export type ListPlan =
  /** One object, no list: the token's company. Its row has id 1. */
  | {
      readonly kind: "single";
      readonly path: string;
      /** Fields that each request changes: an answer that differs in nothing else is no change. */
      readonly counters?: readonly string[];
    }
  /** One answer with everything; with variants, one for each value of a parameter, which records repeat in `field`. */
  | {
      readonly kind: "whole";
      readonly path: string;
      /** The answer is a bare array. @default an object with the records in `data` */
      readonly body?: "array";
      readonly variants?: {
        readonly param: string;
        readonly values: readonly string[];
        readonly field: string;
      };
    }
  /**
   * One list in pages of the largest size that the service accepts. `params` are the order, sent with every page:
   * ascending by a key that is unique and only grows, where there is one.
   */
  | {
      readonly kind: "paged";
      readonly path: string;
      readonly perPage: number;
      readonly params: Readonly<Record<string, string>>;
      /** Absent: a quick run does not read the resource. */
      readonly quick?: QuickPlan;
    }
  /** One list in bare arrays of the service's page size, without a total: read to a page shorter than the first. */
  | {
      readonly kind: "walked";
      readonly path: string;
      /** Records of a full page, as documented. */
      readonly pageSize: number;
      readonly params?: Readonly<Record<string, string>>;
      /** Absent: every run reads the whole list. */
      readonly changes?: ChangesPlan;
    }
  | {
      readonly kind: "parents";
      readonly path: string;
      readonly perPage: number;
      readonly parents: readonly ParentLink[];
    }
  /** A complete set inside the details of other resources. */
  | { readonly kind: "owned"; readonly by: readonly OwnerLink[] };

/**
 * How a list shows only what was created or changed since a moment. It shows no deletion: the whole list is read now and
 * then (`scrub.lists` in the config).
 */
export interface ChangesPlan {
  /** The query parameter that takes the moment, ISO. */
  readonly since: string;
  /**
   * The record's field by which the service decides. The next list of changes begins where the newest record of the last
   * one ended, by the service's own clock.
   */
  readonly stamp: string;
  /** So much earlier: longer than a change may take from its time stamp until a list shows it. */
  readonly overlapMs: number;
}

/** How a quick run finds what changed lately, by lists of which none shows the whole resource. */
export interface QuickPlan {
  /** Records since a day, so many days ago: the parameter takes its date. */
  readonly since?: { readonly param: string; readonly days: number };
  /** Records that are still open: one list for each value, which live rows have in `column`. */
  readonly open?: { readonly param: string; readonly values: readonly string[]; readonly column: string };
  /** An order with the latest changes first; read until a page shows nothing new. */
  readonly latestFirst?: Readonly<Record<string, string>>;
}

interface ParentLink {
  readonly resource: string;
  readonly param: string;
  readonly field: string;
}

interface OwnerLink {
  readonly resource: string;
  readonly type: string;
  readonly typeField: string;
  readonly idField: string;
}

export interface RecordFiles {
  /** Both are switched on by themselves in the config. */
  readonly kind: FileKind;
  readonly path: string;
  /** One PDF, or a ZIP archive with any number of files. */
  readonly mediaType: "application/pdf" | "application/zip";
  /** Column of the day by which files are filed. */
  readonly date: string;
  /** Columns that name a file, such as number and client; empty: the id does. */
  readonly name: readonly string[];
  /** Child table without whose rows a record has no files. Absent: every record has. */
  readonly where?: string;
}

export type FileKind = "pdf" | "attachment";

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
  /** What lists contain: `full` records, or `preview`s with the fields below. */
  readonly gives: "full" | "preview";
  readonly preview?: z.ZodObject;
  readonly previewFields?: Fields;
  /** A listed record without these keys is a preview: its detail must be read. */
  readonly fullWhen?: readonly string[];
  /** `/invoices/{id}`; absent where records have no route of their own. */
  readonly detail?: string;
  readonly files?: RecordFiles;
  readonly doc?: string;
  /** About how the service is set up, not about the business: hidden where people look for answers. */
  readonly isTechnical?: true;
  /** Fields that the service changes by itself, without a change of the record: `verify` does not compare them. */
  readonly volatile?: readonly string[];
  /** By table: columns with what people wrote to each other, which are not for everybody who may read the books. */
  readonly content?: Readonly<Record<string, readonly string[]>>;
  /** Columns that need an index, besides those of list plans. */
  readonly lookedUpBy?: readonly string[];
}

export function pathOf(template: string, id: number | bigint): string {
  return template.replace(/\{[^}]+\}/, String(id));
}

/** @default singular: the name without its last letter; origin: published */
type Declared = Omit<Resource, "fields" | "gives" | "previewFields" | "singular" | "origin"> &
  Partial<Pick<Resource, "singular" | "origin">>;

/** The resources whose records bring these, in details or in lists of their own; none: these have a list. */
export function sourcesOf({ list }: Resource): string[] {
  const links = list.kind === "owned" ? list.by : list.kind === "parents" ? list.parents : [];
  return links.map(({ resource }) => resource);
}

/** A resource as its connector declares it; the fields follow from the record types. */
export function defineResource(declared: Declared): Resource {
  const { name, record, preview } = declared;
  const usual = { singular: name.slice(0, -1), origin: "published" } as const;
  const whole = { ...usual, ...declared, fields: fieldsOf(record) };
  if (!preview) return Object.freeze({ ...whole, gives: "full" });
  return Object.freeze({ ...whole, gives: "preview", previewFields: fieldsOf(preview) });
}
