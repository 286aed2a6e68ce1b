import type { Problem } from "./config-problems.ts";

/** What a look at one name alone cannot tell: none, two names for one file, a name JavaScript keeps for itself. */
export function companyNameProblems(raw: unknown): Problem[] {
  const companies: unknown = (raw as { companies?: unknown } | null)?.companies;
  if (typeof companies !== "object" || companies === null || Array.isArray(companies)) return [];
  const names = Object.keys(companies);
  if (names.length === 0)
    return [{ path: ["companies"], at: "value", message: "companies must name at least one company" }];
  return names.flatMap((name, index) => {
    const twin = names.slice(0, index).find((other) => other.toLowerCase() === name.toLowerCase());
    if (name !== "__proto__" && twin === undefined) return [];
    const message =
      twin === undefined
        ? `the company name "${name}" cannot be used`
        : `the company names "${twin}" and "${name}" differ only in case: on some disks they are the same file`;
    return [{ path: ["companies", name], at: "key" as const, message }];
  });
}
