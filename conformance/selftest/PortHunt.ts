/** Runs the model of the storage ports on faulty stores or on the reference, and returns what it says. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as PortRun from "../ports/PortRun.ts"
import type { PortTarget } from "../ports/PortTarget.ts"
import type { SpoiledPorts } from "./Fault.ts"
import { faults } from "./Faults.ts"
import * as Subjects from "./Subjects.ts"

/** Runs the model on the stores of a fault, or on the reference without an id. */
export const hunt = (id: string | undefined, seed: number): Promise<PortRun.PortResults> => {
  const where = id === undefined ? undefined : faults.find((fault) => fault.id === id)?.where
  return Effect.runPromise(
    PortRun.run(targetOf(where?.at === "port" ? where : {}), { seed }).pipe(
      Random.withSeed(seed),
      Effect.provideService(References.MinimumLogLevel, "None")
    )
  )
}

export const targetOf = (ports: SpoiledPorts): PortTarget => Subjects.portTarget("stores", ports)
