import { describe, expect, test } from "vitest";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { readCommandLine } from "../../src/cli/program/command-line.ts";
import { at, documentsOf, example, examples, pods } from "../support/docs/examples.ts";

/** What a file passes to the program, in a line of a shell, a unit or a text. */
const calls = [
  /(?:bin\/fintoro-mirror\.js|\$MIRROR|exec mirror fintoro-mirror|run --rm (?:-e \w+ )?mirror) +([a-z][^`>|;#\n]+)/g,
  /`fintoro-mirror +([^`\n]+)`/g,
  / -- fintoro-mirror +([^#\n]+)/g,
  /^fintoro-mirror +([^#\n]+)/gm,
];

function callsIn(text: string): string[][] {
  const found = calls.flatMap((pattern) => [...text.matchAll(pattern)].map(([, args]) => args ?? ""));
  return found.map((args) => args.trim().split(/\s+/));
}

function read(args: readonly string[]) {
  const request = readCommandLine(args, commands, "1.2.3");
  return typeof request === "string" ? "text" : request.command.name;
}

describe("every command line in the examples is one that the program takes:", () => {
  const found = [...examples].flatMap(([file, text]) => callsIn(text).map((args) => [file, args] as const));

  test.each(found)("%s: %j", (_, args) => {
    expect(commands.map(({ name }) => name)).toContain(read(args));
  });

  test("the ones that are looked for are found", () => {
    const files = new Set(found.map(([file]) => file));
    for (const file of ["crontab", "systemd/fintoro-mirror.service", "docker/compose.yaml", "Caddyfile"])
      expect(files).toContain(file);
    const named = ["serve", "sync", "status", "webhooks create", "webhooks list", "fleet add"];
    expect(new Set(found.map(([, args]) => read(args)))).toEqual(new Set(named));
  });
});

test("containers run what the image, Compose and the cluster start", () => {
  const [compose] = documentsOf("docker/compose.yaml");
  const image = /^CMD (\[.*\])$/m.exec(example("docker/Dockerfile"))?.[1] ?? "[]";
  expect(read(JSON.parse(image) as string[])).toBe("serve");
  expect(read(at(compose, "services", "mirror", "command") as string[])).toBe("serve");
  const started = { serve: "serve", cronjob: "sync", "cronjob-shards": "sync", fleet: "worker" };
  const commandOf = (pod: unknown) => read(at(pod, "containers", 0, "args") as string[]);
  const commandsOfPods = pods.map(([file, , pod]) => [file, commandOf(pod)]);
  const expected = Object.entries(started).map(([name, command]) => [`kubernetes/${name}.yaml`, command]);
  expect(Object.fromEntries(commandsOfPods)).toEqual(Object.fromEntries(expected));
});
