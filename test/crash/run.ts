import { parseArgs } from "node:util";
import { scenarios } from "./points/all-scenarios.ts";
import { classesOf, crashOnTheWay, withScenario, type CrashScenario } from "./points/crash-scenario.ts";

/**
 * Ends a real process at each point of each scenario, and starts it again. Points between which no file changed leave
 * the same behind: one of them is tried. `--only NAME` tries one scenario, `--point N` one of its points; `--minutes M`
 * bounds the whole. Exits 1 if one is broken.
 */
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    point: { type: "string" },
    minutes: { type: "string", default: "120" },
  },
});

const endMs = performance.now() + Number(values.minutes) * 60_000;
const chosenScenarios = Object.entries(scenarios).filter(([name]) => name === (values.only ?? name));
if (chosenScenarios.length === 0) throw new Error(`no such scenario: ${Object.keys(scenarios).join(", ")}`);

let broken = 0;
for (const [name, open] of chosenScenarios)
  broken += await withScenario(open, (scenario) => sweep(name, scenario));
process.exitCode = broken > 0 ? 1 : 0;

/** Tries the chosen points; gives how many are broken, or were not tried. */
async function sweep(name: string, scenario: CrashScenario): Promise<number> {
  const classes = await classesOf(scenario);
  const points = classes.flat().length;
  const chosen = values.point === undefined ? spread(classes) : [Number(values.point)];
  const tried = { crashed: 0, ended: 0, broken: 0 };
  for (const number of chosen) {
    if (performance.now() > endMs) break;
    const result = await crashOnTheWay(scenario, number, points);
    if (result.point === null) tried.ended += 1;
    else tried.crashed += 1;
    if (result.broken.length === 0) continue;
    tried.broken += 1;
    print(`BROKEN ${name} at point ${number}: ${result.point}`, ...result.broken.slice(0, 20));
  }
  const missed = chosen.length - tried.crashed - tried.ended;
  const ended = tried.ended > 0 ? `, ${tried.ended} times it ended before` : "";
  const untried = missed > 0 ? `, ${missed} NOT TRIED: the time was over` : "";
  const among = `${points} points with ${classes.length} states`;
  print(`${name}: ${tried.crashed} crashes among ${among}${ended}, ${tried.broken} broken${untried}`);
  return tried.broken + missed;
}

/** One point of each class, the first few of them spread over all: a sweep that is cut short has met every part. */
function spread(classes: readonly (readonly number[])[]): number[] {
  return classes.flatMap((numbers) => numbers.slice(0, 1)).toSorted((a, b) => rank(a) - rank(b));
}

function rank(number: number): number {
  return (number * 0.618_034) % 1;
}

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join("\n    ")}\n`);
}
