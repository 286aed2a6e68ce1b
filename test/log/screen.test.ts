import { describe, expect, test } from "vitest";
import { canDraw, createScreen, wantsColour } from "../../src/log/screen.ts";
import { createTerminal } from "../support/terminal/terminal.ts";

describe("a screen with a block", () => {
  test("scrolls lines above it, draws over it, and leaves no old lines where it shrinks", () => {
    const terminal = createTerminal();
    const screen = createScreen(terminal, true);
    screen.line("first");
    screen.block(["a 1", "b 1"]);
    screen.line("second");
    screen.block(["a 2", "b 2", "c 2"]);
    expect(terminal.visible()).toEqual(["first", "second", "a 2", "b 2", "c 2"]);
    screen.block(["d"]);
    expect(terminal.visible()).toEqual(["first", "second", "d"]);
    screen.block([]);
    screen.line("after");
    expect(terminal.visible()).toEqual(["first", "second", "after"]);
    expect(terminal.cursorHidden()).toBe(true);
  });

  test("shows the cursor again, and closing twice or without a block writes nothing", () => {
    const terminal = createTerminal();
    const screen = createScreen(terminal, true);
    screen.close();
    expect(terminal.cursorHidden()).toBe(false);
    screen.block(["a"]);
    screen.close();
    screen.close();
    screen.line("after");
    expect(terminal.cursorHidden()).toBe(false);
    expect(terminal.visible()).toEqual(["after"]);
  });
});

test("a block that a narrower terminal has wrapped is drawn over whole; one that says it has no size counts as 80 by 24", () => {
  const written: string[] = [];
  const stream = { isTTY: true, columns: 0, rows: 0, write: (text: string) => written.push(text) };
  const screen = createScreen(stream, true);
  screen.block([`\u001B[1m${"a".repeat(70)}\u001B[22m`]);
  screen.block(["b"]);
  expect([screen.columns, screen.rows]).toEqual([80, 24]);
  expect(written.at(-1)).toContain("\u001B[1A\r");
  screen.block(["a".repeat(70), "b"]);
  stream.columns = 40;
  screen.block(["c"]);
  expect(written.at(-1)).toContain("\u001B[3A\r");
});

test("a screen that is no terminal has lines only, without one control character", () => {
  const written: string[] = [];
  const screen = createScreen({ write: (text) => written.push(text) }, false);
  screen.block(["a"]);
  screen.line("line");
  screen.close();
  expect(written.join("")).toBe("line\n");
  expect([screen.columns, screen.rows]).toEqual([80, 24]);
});

test("colour needs a terminal, no NO_COLOR and no --no-color; a live block one that can move its cursor", () => {
  const terminal = createTerminal();
  const isColoured = (env: Record<string, string | undefined>) => wantsColour(terminal, env, true);
  const colours = [{}, { NO_COLOR: "" }, { NO_COLOR: "1" }, { TERM: "dumb" }].map(isColoured);
  expect(colours).toEqual([true, true, false, false]);
  expect(wantsColour(terminal, {}, false)).toBe(false);
  expect(wantsColour({ write: () => true }, {}, true)).toBe(false);
  const drawn = [{}, { TERM: "dumb" }, { CI: "true" }].map((env) => canDraw(terminal, env));
  expect([...drawn, canDraw({ isTTY: false }, {})]).toEqual([true, false, false, false]);
});
