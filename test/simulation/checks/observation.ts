import type { SimulatedMachine } from "../machine/simulated-machine.ts";
import type { Witness } from "../service/service-truth.ts";

/** What was seen of a simulation from outside the mirror. Times are those of the service's monotonic clock. */
export type Observation = Readonly<
  Pick<SimulatedMachine, "arrivals" | "acknowledged" | "deniedAtMs" | "receivedAtMs" | "asked" | "reads">
> & { readonly service: Witness };
