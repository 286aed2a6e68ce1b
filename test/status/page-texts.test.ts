import { describe, expect, test } from "vitest";
import { cut, html } from "../../src/status/page/html.ts";
import { when } from "../../src/status/page/moments.ts";

describe("a template of HTML", () => {
  test("escapes every text, in elements and in attributes", () => {
    const text = `<script>"it's" & more</script>`;
    const safe = "&lt;script&gt;&quot;it&#39;s&quot; &amp; more&lt;/script&gt;";
    expect(html`<p title="${text}">${text}</p>`.text).toBe(`<p title="${safe}">${safe}</p>`);
  });

  test("shows characters that turn or end a line as escapes", () => {
    expect(html`${"a\u202eb\nc\u0000"}`.text).toBe("a\\u202eb\\x0ac\\x00");
  });

  test("takes templates and lists of them as they are, and nothing for null and false", () => {
    expect(
      html`<ul>
        ${[1, 2].map((n) => html`<li>${n}</li>`)}${null}${false}
      </ul>`.text.replaceAll(/\s/g, ""),
    ).toBe("<ul><li>1</li><li>2</li></ul>");
  });

  test("of a long text shows its beginning, and no half of a character", () => {
    expect(cut("abcdef", 4)).toBe("abc…");
    expect(cut("ab🔑cdef", 4)).toBe("ab\ufffd…");
  });
});

test("a time is said roughly, with the exact one in the company's zone beside it", () => {
  const moment = { nowMs: Date.UTC(2026, 10, 21, 8), timeZone: "Europe/Bratislava" };
  const shown = (ms: number) => /title="([^"]+)">([^<]+)/.exec((when(ms, moment) as { text: string }).text);
  expect(shown(moment.nowMs - 3 * 3_600_000)?.slice(1)).toEqual(["2026-11-21 06:00:00 CET", "3 h ago"]);
  expect(shown(moment.nowMs - 20_000)?.[2]).toBe("just now");
  expect(shown(moment.nowMs + 90 * 60_000)?.[2]).toBe("in 1 h");
  expect(when(null, moment)).toBe("never");
});
