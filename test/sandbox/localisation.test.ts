import { describe, expect, test } from "vitest";
import { languages } from "../../connectors/fintoro/sandbox/lookups/languages.ts";
import type { Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import { all, get, openSandbox, post, type Dict } from "../support/sandbox/sandbox.ts";

const lookups = [
  "/countries",
  "/languages",
  "/currencies",
  "/delivery-methods",
  "/payment-methods",
  "/qr-types",
  "/units",
];

function country(record: Dict): unknown {
  return ((record["client"] as Dict)["country"] as Dict)["name"];
}

function method(record: Dict): unknown {
  const [payment = {}] = record["payments"] as Dict[];
  return (payment["paymentMethod"] as Dict)["name"];
}

/** Some labels, such as PayPal, are the same in every language; this one is not. */
async function slovakInvoicePaidByTransfer(sandbox: Sandbox): Promise<Dict> {
  for (const { id } of (await get(sandbox, "/invoices?paymentStatus=paid&perPage=500")).data) {
    const invoice = (await get(sandbox, `/invoices/${String(id)}`)).json;
    if (method(invoice) === "Bank transfer" && country(invoice) === "Slovakia") return invoice;
  }
  throw new Error("no invoice of a Slovak client was paid by bank transfer");
}

describe("labels of the system", () => {
  test("are there in all nineteen languages, under the same ids", async () => {
    const sandbox = await openSandbox();
    for (const path of lookups) {
      const english = (await get(sandbox, path)).data;
      for (const { tag } of languages) {
        const heard = await get(sandbox, path, { language: tag });
        expect(heard.headers.get("content-language")).toBe(tag);
        expect(heard.data.map(({ id }) => id)).toEqual(english.map(({ id }) => id));
        for (const { name } of heard.data) expect(String(name).trim(), `${path} ${tag}`).not.toBe("");
      }
    }
  });

  test.each([
    ["en", "Slovakia", "Czech", "Czech Koruna", "By courier", "Bank transfer", "pcs"],
    ["sk", "Slovensko", "čeština", "česká koruna", "Kuriérom", "Prevodom", "ks"],
    ["cs", "Slovensko", "čeština", "česká koruna", "Kurýrem", "Převodem", "ks"],
    ["de", "Slowakei", "Tschechisch", "Tschechische Krone", "Per Kurier", "Überweisung", "Stk"],
    ["uk", "Словаччина", "чеська", "чеська крона", "Кур’єром", "Банківський переказ", "шт"],
  ])("in %s", async (language, ...words) => {
    const sandbox = await openSandbox();
    const name = async (path: string, id: number) =>
      (await get(sandbox, path, { language })).data.find((record) => record["id"] === id)?.["name"];
    const found = [
      await name("/countries", 703),
      await name("/languages", 8),
      await name("/currencies", 5),
      await name("/delivery-methods", 3),
      await name("/payment-methods", 1),
      await name("/units", 1),
    ];
    expect(found).toEqual(words);
  });

  test("are translated inside business records too, what people wrote is not", async () => {
    const sandbox = await openSandbox();
    const english = await slovakInvoicePaidByTransfer(sandbox);
    const { id } = english;
    const german = (await get(sandbox, `/invoices/${String(id)}`, { language: "de" })).json;
    expect([country(english), country(german)]).toEqual(["Slovakia", "Slowakei"]);
    expect(method(german)).not.toBe(method(english));
    expect((german["client"] as Dict)["name"]).toBe((english["client"] as Dict)["name"]);
    const units = async (language: string) =>
      new Set(
        (await get(sandbox, "/price-list-items", { language })).data.map(
          ({ unit }) => (unit as Dict)["name"],
        ),
      );
    expect(await units("de")).toContain("Stk");
    expect(await units("en")).toContain("pcs");
  });
});

describe("the language of an answer", () => {
  test.each([
    ["sk-SK,sk;q=0.9,en;q=0.5", "sk"],
    ["de-AT", "de"],
    ["cz", "cs"],
    ["xx, fr;q=0.3, it;q=0.7", "it"],
    ["en;q=0, pl", "pl"],
    ["xx", "en"],
    ["*", "en"],
    ["", "en"],
  ])("for %j is %s", async (language, tag) => {
    const sandbox = await openSandbox();
    expect((await get(sandbox, "/units", { language })).headers.get("content-language")).toBe(tag);
  });

  test("without a wish is the one the sandbox was started with", async () => {
    const sandbox = await openSandbox({ language: "sk" });
    expect((await get(sandbox, "/units", { language: "xx" })).data[0]).toEqual({ id: 1, name: "ks" });
  });
});

test("validation speaks Slovak, Czech and English, and English to all others", async () => {
  const sandbox = await openSandbox();
  const said = async (language: string) =>
    (await post(sandbox, "/clients", { email: "x" }, { language })).json;
  expect(await said("sk")).toEqual({
    message: "Zadané údaje nie sú platné.",
    errors: { name: ["Pole name je povinné."], email: ["Pole email musí byť platná e-mailová adresa."] },
  });
  expect((await said("cs"))["errors"]).toMatchObject({
    name: ["Pole name je povinné."],
    email: [expect.stringContaining("platná")],
  });
  expect((await said("hu"))["errors"]).toMatchObject({ name: ["The name field is required."] });
  const limits = (await get(sandbox, "/invoices?perPage=501", { language: "sk" })).json["errors"];
  expect(limits).toEqual({ perPage: ["Pole per page nesmie byť väčšie ako 500."] });
  expect((await all(sandbox, "/orders")).length).toBeGreaterThan(0);
});
