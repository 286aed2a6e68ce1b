import { usualService } from "../service/service-types.ts";
import { calmDeliveries, calmNetwork, type Phase, type Scenario } from "./scenario.ts";

/**
 * Takes from a scenario that fails what it fails without: phases, changes, faults, options of the service.
 *
 * @param fails simulates a scenario: does it still fail in the same way?
 * @param mostMs no other scenario is simulated afterwards
 */
export async function shrink(
  scenario: Scenario,
  fails: (scenario: Scenario) => Promise<boolean>,
  mostMs = 30_000,
): Promise<Scenario> {
  let smallest = scenario;
  const endMs = performance.now() + mostMs;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const candidate of smallerOnes(smallest)) {
      if (performance.now() >= endMs) return smallest;
      if (!(await fails(candidate))) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

/** Scenarios with a little less each, the largest steps first. */
function* smallerOnes(scenario: Scenario): Generator<Scenario> {
  const { phases, service } = scenario;
  for (const [at] of phases.entries()) yield { ...scenario, phases: phases.toSpliced(at, 1) };
  for (const [at, phase] of phases.entries())
    for (const smaller of smallerPhases(phase))
      yield { ...scenario, phases: phases.toSpliced(at, 1, smaller) };
  if (scenario.restsBesideServe) yield { ...scenario, restsBesideServe: false };
  if (scenario.budgetFile) yield { ...scenario, budgetFile: false };
  const { parentsPerRun, ...usual } = scenario;
  if (parentsPerRun !== undefined) yield usual;
  if (scenario.fresh) yield { ...scenario, fresh: false };
  for (const [name, value] of Object.entries({ ...usualService, size: 3 }))
    if (name in service && service[name as keyof typeof usualService] !== value)
      yield { ...scenario, service: { ...service, [name]: value } };
}

function* smallerPhases(phase: Phase): Generator<Phase> {
  const { changes, wallJumps, network, deliveries, ending, activity } = phase;
  if (ending.kind !== "by itself") yield { ...phase, ending: { kind: "by itself" } };
  if (ending.kind === "crash" && ending.power) yield { ...phase, ending: { ...ending, power: false } };
  if (network !== calmNetwork) yield { ...phase, network: calmNetwork };
  if (deliveries !== calmDeliveries) yield { ...phase, deliveries: calmDeliveries };
  if (phase.busy) yield { ...phase, busy: 0 };
  if (phase.oddities !== undefined && phase.oddities.length > 0) yield { ...phase, oddities: [] };
  if (phase.token !== undefined && phase.token !== "own") yield { ...phase, token: "own" };
  if (wallJumps.length > 0) yield { ...phase, wallJumps: [] };
  for (let size = changes.length; size >= 1; size >>= 1)
    for (let from = 0; from < changes.length; from += size)
      yield { ...phase, changes: changes.toSpliced(from, size) };
  if (activity.kind === "serve" && activity.runAtMs !== null)
    yield { ...phase, activity: { ...activity, runAtMs: null } };
  for (const [name, share] of Object.entries(network))
    if (share !== 0 && share !== null)
      yield { ...phase, network: { ...network, [name]: name === "brokenRoute" ? null : 0 } };
  for (const [name, share] of Object.entries(deliveries))
    if (share !== 0) yield { ...phase, deliveries: { ...deliveries, [name]: 0 } };
}
