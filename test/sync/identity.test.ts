import { describe, expect, test } from "vitest";
import { fingerprintOf, judgeIdentity, type Identity } from "../../src/sync/identity/identify.ts";

const pinned: Identity = {
  name: "Acme",
  salt: "salt",
  fingerprint: fingerprintOf("token", "salt"),
  businessId: "12345678",
};

describe("I10: a mirror belongs to one company", () => {
  test.each([
    ["nothing pinned yet", null, "Acme", "token", null, "first"],
    ["same token, same name", pinned, "Acme", "token", null, "same"],
    ["same token, same name, whatever the business id", pinned, "Acme", "token", "999", "same"],
    ["same token, other name: a rename", pinned, "Acme Group", "token", null, "renamed"],
    ["same token, no name: a rename too", pinned, "", "token", null, "renamed"],
    ["other token, same name, same business id: a rotation", pinned, "Acme", "new", "12345678", "rotated"],
    ["other token, same name, business id unknown to the service", pinned, "Acme", "new", null, "rotated"],
    ["other token, same name, none pinned", { ...pinned, businessId: null }, "Acme", "new", "999", "rotated"],
    ["other token, same name, other business id", pinned, "Acme", "new", "999", "refused"],
    ["both other", pinned, "Globex", "new", null, "refused"],
    ["both other, same business id", pinned, "Globex", "new", "12345678", "refused"],
    ["other token, the name in other letters", pinned, "ACME", "new", null, "refused"],
  ] as const)("%s", (_case, known, name, token, businessId, kind) => {
    expect(judgeIdentity(known, { name, token, businessId }).kind).toBe(kind);
  });

  test("a refusal names both companies, says that nothing was written, and how to override", () => {
    const verdict = judgeIdentity(pinned, { name: "Globex", token: "new", businessId: null });
    const error = verdict.kind === "refused" ? verdict.error : null;
    expect(error).toMatchObject({ kind: "identity", retryable: false });
    expect(error?.message).toContain('the mirror is of "Acme", this token is of "Globex"');
    expect(error?.hint).toContain("Nothing was written");
    expect(error?.hint).toContain("--accept-identity");
  });

  test("I9: the token is stored as a salted fingerprint that neither shows it nor matches without the salt", () => {
    expect(JSON.stringify(pinned)).not.toContain("token");
    expect(fingerprintOf("token", "other")).not.toBe(pinned.fingerprint);
    expect(fingerprintOf("token", "salt")).toMatch(/^[0-9a-f]{64}$/);
  });
});
