/** Recognizes mutants that keep the contract although they differ from our server, and gives the reason. */
import type { Mutant } from "./Mutant.ts"

interface Rule {
  readonly reason: string
  readonly holds: (mutant: Mutant) => boolean
}

/** Creates a rule that matches the ids of a mutant's operator, place and condition. */
const rule = (reason: string, operator: RegExp, place: RegExp, condition = /./): Rule => ({
  reason,
  holds: (mutant) =>
    operator.test(mutant.operator.id) && place.test(mutant.place.id) && condition.test(mutant.condition.id)
})

const NO_KEY = /^(without a valid key|for a revoked key|on 401)$/

const NO_PLAN = "Limits are by plan (§8.2), and a caller without a valid key has no plan."

const NO_HEAD =
  "The contract does not describe HEAD (§4), so only a success without a key, or a status that denies a valid one, is wrong."

export const rules: ReadonlyArray<Rule> = [
  rule(
    NO_PLAN,
    /^(add one to|add 60 to|double|multiply by 1000)$/,
    /^(X-RateLimit-Limit|verdict: (limit|retryAfter))$/,
    NO_KEY
  ),
  rule(NO_PLAN, /^always send the first$/, /^(X-RateLimit-Limit|verdict: limit)$/, NO_KEY),
  rule(
    "The plan of the key of a run is not declared, so any larger limit may be its own (§8.2).",
    /^(add one to|add 60 to|double|multiply by 1000|always send the first)$/,
    /^(X-RateLimit-Limit|verdict: limit)$/,
    /^for the key of a run$/
  ),
  rule(
    NO_PLAN,
    /^(add one to|halve|round to tens|send zero for)$/,
    /^(X-RateLimit-Remaining|verdict: remaining)$/,
    NO_KEY
  ),
  // Only how requests without a valid key are counted changes; their responses still have all headers (§8.3), with
  // consistent values.
  rule(NO_PLAN, /./, /^(plan: |(state|stored): (level|used|day|debt)|caller)/, NO_KEY),
  rule(
    "A caller without a valid key has no plan (§8.2), so its reset may be any time close to the correct one.",
    /^(send the (one before the )?previous|add one to|add 60 to|round to tens)$/,
    /^(X-RateLimit-Reset|verdict: resetAt)$/,
    NO_KEY
  ),
  rule(
    "A caller without a valid key has no plan (§8.2), so its Retry-After may be that of an earlier response.",
    /^(send the (one before the )?previous|always send the first)$/,
    // In a verdict, an earlier value may be the 0 of an admitted request, which no response shows.
    /^Retry-After$/,
    NO_KEY
  ),
  // A ban may be shorter, a little longer or absent; a much longer one would not be temporary.
  rule(
    "The contract leaves open whether and how keys are banned (§8.4.3).",
    /^(add one to|add 60 to|take one from|halve|round to tens|send zero for|always send the first)$/,
    /^(state|stored): bannedUntil$/
  ),
  rule(
    "The contract leaves open whether requests are counted per key, account or address (§8.4).",
    /^use (one for all|another), the$/,
    /^caller/,
    /^(always|for the key|for a key)/
  ),
  rule(
    "A reset in whole seconds is rounded, up or down (§8.3); ours is rounded up.",
    /^take one from$/,
    /^(X-RateLimit-Reset|verdict: resetAt)$/
  ),
  rule(
    "Retry-After may name a later time than needed (§8.4.2).",
    // A wait that is a thousand times as long would deny the plan's requests.
    /^(add (one|60) to|double)$/,
    /^(Retry-After|verdict: retryAfter)$/
  ),
  rule(
    "A request costs 60,000 units of the level of a bucket; these operators add so few that no run shows them.",
    // With one unit less, the last request of a full bucket is denied, so `take one from` breaks the plan. Sixty units
    // for each request add up to a wait that is shorter than told.
    /^(add one to|round to tens)$/,
    /^(state|stored): level$/
  ),
  rule(
    "A caller without a valid key has no plan (§8.2), so its reset may be rounded down.",
    /^take one from$/,
    /^clock in seconds$/,
    NO_KEY
  ),
  rule(
    "The contract names no Content-Type of responses, and no charset, to which a letter is added.",
    /^(drop|duplicate|add a letter to)$/,
    /^Content-Type$/
  ),
  rule(
    "A category that need not exist, or a name, may be rejected (§2 shows no constraints on them).",
    // What makes the body invalid, so that the creation is rejected.
    /^(drop|duplicate|send null for|send as a string|send with a fraction)$/,
    /^(name|categoryId) as read$/,
    /^for (names|negative categories|categories)/
  ),
  rule(
    "The contract does not describe HEAD (§4); §8.3 requires only its rate-limit headers.",
    /./,
    /^(parameter |id in the path$)/,
    /^on HEAD$/
  ),
  rule(NO_HEAD, /^send (?!401|403|429)/, /^status (200|400|404)$/, /^on HEAD$/),
  rule(NO_HEAD, /^send (?!20.|429)/, /^status 401$/, /^on HEAD$/),
  rule(NO_HEAD, /^send (?!401|403)/, /^status 429$/, /^on HEAD$/),
  rule(
    "A key has no state before its first request; only callers without a valid key share one, and they have no plan.",
    /./,
    /^state: /,
    /^for the first request of a key$/
  ),
  rule(
    "A key may have been used before a run, so the first day may have any number of requests left.",
    /./,
    /^stored: used$/,
    /^for the first request of a key$/
  ),
  rule(
    "The status of an animal is optional (§2), so a retrieval may show none.",
    /^drop$/,
    /^status in a retrieval$/
  ),
  rule("JSON allows white space around a value (RFC 8259 §2).", /^put spaces around the$/, /./),
  rule("The contract states no order of a list (§4.1).", /^reverse the$/, /^list$/),
  rule(
    "getPet is removed (§9.3), whatever the id.",
    /./,
    /^id in the path$/,
    /^after the removal of getPet$/
  ),
  rule("A store that is read twice returns the same.", /^repeat$/, /(find|page|findByHash)$/),
  rule(
    "Only invalid values of `limit` are changed, into other invalid values; the contract defines no response to them (§4.1).",
    /^round to a double$/,
    /^parameter limit$/
  ),
  rule(
    "The contract leaves constraints on names open (§2): a server may trim or normalize every name.",
    /^(trim|normalize|decompose)$/,
    /^name as read$/,
    /^always$/
  ),
  rule(
    "A normalization form of all names beyond ASCII is one of all names (§2).",
    /^(normalize|decompose)$/,
    /^name as read$/,
    /^for names beyond ASCII$/
  )
]

/** Returns the reason why a mutant is legal; `undefined` if none is known. */
export const reasonFor = (mutant: Mutant): string | undefined =>
  rules.find(({ holds }) => holds(mutant))?.reason
