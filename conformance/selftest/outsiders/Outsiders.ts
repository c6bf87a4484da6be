/**
 * Collects the outsiders: faults that were written from the text of the contract, before their author had read a check.
 * They measure the suite; before the first published measurement, no check was changed to catch one.
 */
import * as AnimalOutsiders from "./AnimalOutsiders.ts"
import * as CallerOutsiders from "./CallerOutsiders.ts"
import * as ListOutsiders from "./ListOutsiders.ts"
import type { Outsider } from "./Outsider.ts"

export const outsiders: ReadonlyArray<Outsider> = [
  ...ListOutsiders.outsiders,
  ...AnimalOutsiders.outsiders,
  ...CallerOutsiders.outsiders
]
