import type { InvalidError } from "../../connector/service-errors.ts";
import type { ListPlan } from "../../connector/resource.ts";
import type { ListForm } from "../../extract/work-request.ts";
import { smallestPage } from "../context/limits.ts";

/** Does the service refuse how many records are asked for at a time? It names the field, else the message does. Pure. */
export function refusesPageSize(error: InvalidError): boolean {
  return names(error, "perPage") || (namesNothing(error) && /per.?page/i.test(error.serviceMessage ?? ""));
}

/**
 * How to ask for a list after a 422: with the size that the message allows, else half of it; without the order if
 * that is refused. Where nothing is named: without the order, and then smaller. Pure. Each form asks for less than the
 * one before it, so this ends.
 *
 * @returns null when the refusal has another reason
 */
export function otherListForm(list: ListPlan, form: ListForm, error: InvalidError): ListForm | null {
  if (!("perPage" in list)) return null;
  const hasOrder = list.kind === "paged" && Object.keys(list.params).length > 0 && !form.unsorted;
  const isOrder = ["sortBy", "sortDirection"].some((param) => names(error, param));
  const isSize = refusesPageSize(error);
  if (hasOrder && !isSize && (isOrder || namesNothing(error))) return { ...form, unsorted: true };
  if (!isSize && !namesNothing(error)) return null;
  const perPage = smallerSize(form.perPage ?? list.perPage, error);
  return perPage === null ? null : { ...form, perPage };
}

function namesNothing({ fields }: InvalidError): boolean {
  return Object.keys(fields).length === 0;
}

/** `perPage`, also where the service writes `per_page`. */
function names({ fields }: InvalidError, param: string): boolean {
  return Object.keys(fields).some((field) => plain(field) === plain(param));
}

function plain(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}

/** The largest number below the current size that the messages name, in whatever language, else half of it. */
function smallerSize(current: number, { serviceMessage, fields }: InvalidError): number | null {
  const texts = [serviceMessage ?? "", ...Object.values(fields).flat()];
  const sizes = texts.flatMap((text) => text.match(/\d+/g) ?? []).map(Number);
  const allowed = Math.max(...sizes.filter((size) => size > 1 && size < current), 0);
  if (allowed > 0) return allowed;
  return current > smallestPage ? Math.max(smallestPage, Math.floor(current / 2)) : null;
}
