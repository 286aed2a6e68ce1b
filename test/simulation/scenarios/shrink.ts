import { isDeepStrictEqual } from "node:util";
import { usualService } from "../service/service-types.ts";
import { calmDeliveries, calmNetwork, type Phase, type Scenario } from "./scenario.ts";

/** No other scenario is simulated after so long. */
const mostMs = 30_000;

/**
 * Takes from a scenario that fails what it fails without: phases, changes, faults, options of the service.
 *
 * @param fails simulates a scenario: does it still fail in the same way?
 */
export async function shrink(
  scenario: Scenario,
  fails: (scenario: Scenario) => Promise<boolean>,
  endMs = performance.now() + mostMs,
): Promise<Scenario> {
  for (const candidate of smallerOnes(scenario)) {
    if (performance.now() >= endMs) return scenario;
    if (await fails(candidate)) return shrink(candidate, fails, endMs);
  }
  return scenario;
}

/** Scenarios with a little less each, the largest steps first. */
function* smallerOnes(scenario: Scenario): Generator<Scenario> {
  const { phases, service } = scenario;
  for (const at of phases.keys()) yield { ...scenario, phases: phases.toSpliced(at, 1) };
  for (const [at, phase] of phases.entries())
    for (const smaller of smallerPhases(phase))
      yield { ...scenario, phases: phases.toSpliced(at, 1, smaller) };
  yield* plainer(scenario, { restsBesideServe: false, parentsPerRun: "auto", fresh: false });
  for (const usual of plainer(service, { ...usualService, size: 3 })) yield { ...scenario, service: usual };
}

function* smallerPhases(phase: Phase): Generator<Phase> {
  const { changes, network, deliveries } = phase;
  yield* plainer(phase, {
    ending: { kind: "by itself" },
    network: calmNetwork,
    deliveries: calmDeliveries,
    busy: 0,
    oddities: [],
    token: "own",
    wallJumps: [],
  });
  for (let size = changes.length; size >= 1; size >>= 1)
    for (let from = 0; from < changes.length; from += size)
      yield { ...phase, changes: changes.toSpliced(from, size) };
  for (const calmer of plainer(network, calmNetwork)) yield { ...phase, network: calmer };
  for (const calmer of plainer(deliveries, calmDeliveries)) yield { ...phase, deliveries: calmer };
}

/** The same with one of its values as in `plain`, for each that differs. */
function* plainer<T extends object>(value: T, plain: Partial<T>): Generator<T> {
  for (const [name, calm] of Object.entries(plain))
    if (name in value && !isDeepStrictEqual(value[name as keyof T], calm)) yield { ...value, [name]: calm };
}
