import { parseArgs } from "node:util";
import { scenarios } from "./points/all-scenarios.ts";
import { classesOf, crashOnTheWay, type CrashScenario } from "./points/crash-scenario.ts";

/**
 * Ends a real process at each point of each scenario, and starts it again. Points between which no file changed leave
 * the same behind: one of them is tried, with `--each N` up to N, with `--all` all. `--only NAME` tries one scenario,
 * `--point N` one of its points; `--minutes M` bounds the whole, `--jobs N` tries so many points at once. Exits 1 if
 * one is broken.
 */
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    point: { type: "string" },
    each: { type: "string", default: "1" },
    all: { type: "boolean", default: false },
    minutes: { type: "string", default: "60" },
    jobs: { type: "string", default: "2" },
  },
});

const endMs = performance.now() + Number(values.minutes) * 60_000;
const chosenScenarios = Object.entries(scenarios).filter(([name]) => name === (values.only ?? name));
if (chosenScenarios.length === 0) throw new Error(`no such scenario: ${Object.keys(scenarios).join(", ")}`);

let broken = 0;
for (const [name, open] of chosenScenarios) {
  const scenario = await open();
  try {
    broken += await sweep(name, scenario);
  } finally {
    await scenario.close();
  }
}
process.exitCode = broken > 0 ? 1 : 0;

/** Tries the chosen points; gives how many are broken. */
async function sweep(name: string, scenario: CrashScenario): Promise<number> {
  const startedMs = performance.now();
  const classes = await classesOf(scenario);
  const chosen = values.point === undefined ? chosenOf(classes) : [Number(values.point)];
  const left = [...chosen];
  const tried = { crashed: 0, ended: 0, broken: 0 };
  const work = async () => {
    for (let number = left.shift(); number !== undefined; number = left.shift()) {
      if (performance.now() > endMs) return;
      const result = await crashOnTheWay(scenario, number, classes.flat().length);
      if (result.point === null) tried.ended += 1;
      else tried.crashed += 1;
      if (result.broken.length > 0) {
        tried.broken += 1;
        print(`BROKEN ${name} at point ${number}: ${result.point}`, ...result.broken.slice(0, 20));
      }
      if ((tried.crashed + tried.ended) % 50 === 0)
        print(`  ${name}: ${tried.crashed + tried.ended} of ${chosen.length}`);
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  const missed = chosen.length - tried.crashed - tried.ended;
  const ended = tried.ended > 0 ? `, ${tried.ended} times it ended before` : "";
  const untried = missed > 0 ? `, ${missed} NOT TRIED: the time was over` : "";
  const among = `${classes.flat().length} points with ${classes.length} states`;
  print(
    `${name}: ${tried.crashed} crashes among ${among}${ended}, ${tried.broken} broken${untried}, ${seconds} s`,
  );
  return tried.broken + missed;
}

/** Of each class some, spread over it. */
function chosenOf(classes: readonly (readonly number[])[]): number[] {
  const most = values.all ? Infinity : Number(values.each);
  return classes
    .flatMap((numbers) => numbers.toSorted((a, b) => spread(a) - spread(b)).slice(0, most))
    .toSorted((a, b) => spread(a) - spread(b));
}

/** Sorts numbers so that the first few of them are spread over all: a sweep that is cut short has met every part. */
function spread(number: number): number {
  return (number * 0.618_034) % 1;
}

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join("\n    ")}\n`);
}
