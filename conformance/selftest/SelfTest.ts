/** Opens the servers and stores of the self-test for one run. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import type { Report } from "../engine/Report.ts"
import * as Run from "../engine/Run.ts"
import type { Subject } from "../subjects/Subject.ts"

/** Opens a subject, passes it to `use`, and closes it; with the same seed, the run is the same. */
export const withSubject = <A, Opened = Subject>(
  subject: Effect.Effect<Opened, unknown, Scope.Scope>,
  seed: number,
  use: (opened: Opened) => Effect.Effect<A, unknown>
): Effect.Effect<A, unknown> =>
  Effect.scoped(Effect.flatMap(subject, use)).pipe(
    // The names of animals are random.
    Random.withSeed(seed),
    // Logs of a backend about its deliberate fault are of no use.
    Effect.provideService(References.MinimumLogLevel, "None")
  )

/** Opens the subject, runs the suite on it, and closes it. */
export const examine = (
  subject: Effect.Effect<Subject, unknown, Scope.Scope>,
  options: Run.RunOptions
): Effect.Effect<Report, unknown> =>
  withSubject(subject, options.seed ?? 0, (opened) => Run.run(opened, options))
