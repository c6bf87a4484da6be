/**
 * Faults that were written from the text of the contract alone, before their author had read a check. The suite is
 * measured against them; no check was changed to catch one before the measurement that the page publishes.
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
