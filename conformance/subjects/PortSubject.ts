/** Makes a subject of storage ports, which are built again for every case, so that cases are independent. */

import type { PortTarget } from "../ports/PortTarget.ts"
import type { Capability, Subject } from "./Subject.ts"

export interface PortSubject extends Subject {
  readonly kind: "port"
  readonly target: PortTarget
}

/** Whether a subject consists of storage ports. */
export const is = (subject: Subject): subject is PortSubject => subject.kind === "port"

export const make = (target: PortTarget): PortSubject => ({
  name: target.name,
  kind: "port",
  capabilities: new Set<Capability>(target.outage === undefined ? [] : ["outage"]),
  target
})
