import type { z } from "zod";
import type { Fields } from "./field.ts";
import type { Resource } from "./resource.ts";
import { fieldsOf } from "./record-schema.ts";

type Written = Omit<Resource, "fields" | "gives" | "previewFields"> & {
  readonly record: z.ZodObject;
  readonly preview?: z.ZodObject;
};

/** A resource as its connector writes it; the store's view is read off the record types. */
export function defineResource(written: Written): Resource {
  const fields = fieldsOf(written.record);
  if (!written.preview) return Object.freeze({ ...written, fields, gives: "full" });
  const previewFields: Fields = fieldsOf(written.preview);
  return Object.freeze({ ...written, fields, gives: "preview", previewFields });
}
