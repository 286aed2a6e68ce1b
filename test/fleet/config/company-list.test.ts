import { describe, expect, test } from "vitest";
import { readCompanyList } from "../../../src/fleet/config/company-list.ts";
import { errorOf } from "../../support/errors.ts";

const read = (text: string | Uint8Array) =>
  readCompanyList(typeof text === "string" ? Buffer.from(text) : text, "companies.csv");
const tagsIn = (text: string) => read(text).listed.map((one) => one.tags);
const acme = { name: "acme", token: "${env:ACME}" };

describe("a list of companies", () => {
  test.each([
    ["commas", "name,token\nacme,${env:ACME}\n"],
    ["semicolons and the mark that Excel begins with", "\uFEFFname;token\r\nacme;${env:ACME}\r\n"],
    ["tabs, without a last line break", "name\ttoken\nacme\t${env:ACME}"],
    ["quotes, capital letters and spaces", '"Name", TOKEN\n"acme","${env:ACME}"\n'],
    ["empty lines and cells at the end", "\nname,token,,\n,,,\n\nacme,${env:ACME},,\n"],
    ["no braces, and columns in another order", "token,token_file,name\nenv:ACME,,acme\n"],
  ])("is read with %s", (_, text) => {
    const { listed: companies, refused } = read(text);
    expect({ companies, refused }).toMatchObject({ companies: [acme], refused: [] });
  });

  test("has tags between spaces or semicolons, each once; without the column it says nothing of them", () => {
    expect(tagsIn('name,token,tags\na,env:A,vip  2026\nb,env:B,"x;vip;x"\nc,env:C,\n')).toEqual([
      ["2026", "vip"],
      ["vip", "x"],
      [],
    ]);
    expect(tagsIn("name,token\na,env:A\n")).toEqual([null]);
  });

  test("counts lines as an editor does, also behind cells with line breaks", () => {
    const { listed, refused } = read('name,token,tags\r\na,env:A,"x\r\n""y"""\r\nb,env:B,\r\n');
    expect([listed.map(({ line }) => line), refused.map(({ line }) => line)]).toEqual([[4], [2]]);
    const lines = read('name,token,tags\r\na,env:A,"x\r\ny"\r\n\r\nb,env:B,\r\n').listed;
    expect(lines).toMatchObject([
      { line: 2, tags: ["x", "y"] },
      { line: 5, tags: [] },
    ]);
  });

  test.each([
    ["", "companies.csv:1: the column name is missing"],
    ["name\nacme\n", "companies.csv:1: the column token, or token_file, is missing"],
    ["\nnam,token\n", "companies.csv:2: the column nam is unknown. Did you mean name?"],
    ["name,token,Token\n", "companies.csv:1: the column token stands there twice"],
    [
      "acme,secret-token-of-acme\n",
      "companies.csv:1: column 1 is unknown: there are name, token, token_file, tags",
    ],
    ['name,token\nacme,"${env:A}\n', "companies.csv:2: a quote is not closed, or stands within a cell"],
    ['name,token\nacme,"a"b\n', "companies.csv:2: a quote is not closed, or stands within a cell"],
    [Buffer.from("name,token\nacm\xe9,x\n", "latin1"), "companies.csv is not UTF-8"],
  ])("%j is refused whole, with the line and what to do", (text, message) => {
    const refusal = errorOf(() => read(text));
    expect([refusal.kind, refusal.message, refusal.hint]).toEqual(["config", message, expect.any(String)]);
  });

  // Fault: secrets | tokens in a list in the place of references, in its first line, and as names | `fleet add --from` | refused without showing a cell (I9)
  test("I9: refuses each line that cannot be used, by its number and without what stands in it", () => {
    const { listed: companies, refused } = read(
      [
        "name,token,token_file,tags",
        "acme,env:ACME,,",
        "ACME,env:OTHER,,",
        "my company,env:A,,",
        "secret_1,secret-token,,",
        "none,,,",
        "both,env:A,/run/a,",
        "relative,,secrets/a,",
        "bad-tag,env:A,,sécret! x",
        "long,env:A,,,,secret",
        "beta,,/run/secrets/beta,new",
        '__proto__,"${env:A} ",,',
      ].join("\n"),
    );
    expect(companies.map(({ line, name, token }) => [line, name, token])).toEqual([
      [2, "acme", "${env:ACME}"],
      [11, "beta", "${file:/run/secrets/beta}"],
    ]);
    expect(refused.map(({ line, reason }) => `${line}: ${reason.slice(0, 33)}`)).toEqual([
      "3: line 2 has the same name; capital",
      "4: the name becomes a file name: it ",
      "5: the token itself does not belong ",
      "6: it has no token",
      "7: it has both a token and a token_f",
      "8: the file with the token needs its",
      "9: tags have letters, digits, - _ an",
      "10: it has more cells than the first ",
      "12: the name becomes a file name: it ",
    ]);
    expect(JSON.stringify(refused)).not.toMatch(/secret[-_]|sécret/);
  });
});
