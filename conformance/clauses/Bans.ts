/** Clauses about bans of keys that ignore a 429. */
import { design, optional, spec, unchecked } from "./Clause.ts"

export const clauses = [
  ...spec({
    "ban.possible": unchecked(
      "§8.4.3: Repeated requests after a 429 may lead to a ban of the key, so clients should back off exponentially.",
      "It is a permission for the service, and advice to clients."
    ),
    "ban.temporary": optional("§8.4.3: A ban ends.", "No key of the run was banned."),
    "ban.only-that-key": optional(
      "§8.4.3: A ban applies only to the key whose requests caused it.",
      "No key of the run was banned."
    )
  }),
  ...design({
    "ban.rules":
      "§8.4.3: A key is banned after 20 strikes within 5 minutes of the first; a strike is a denied request for which no slot is free, at most one per second.",
    "ban.answer": "§8.4.3: A banned key gets 429 with the code `api_key_banned`.",
    "ban.unchanged-by-requests":
      "§8.4.3: Requests during a ban neither prolong it nor change any other state.",
    "ban.levels":
      "§8.4.3: The first ban lasts 1 minute, the next two last 5 and 15 minutes, and all later ones last 60 minutes.",
    "ban.clean-day": "§8.4.3: Every full 24 hours without a strike or ban shortens the next ban by one step.",
    "ban.polite-never":
      "§8.4.3: Clients that wait for `Retry-After`, or for at least 30 seconds, are never banned, if there are no more of them than slots.",
    "ban.anonymous-never": "§8.4.3: A client without a valid key is never banned.",
    "ban.headers":
      "§8.3: During a ban, Limit is the per-minute limit, Remaining is 0, and Reset is the end of the ban.",
    "ban.retry-after": "§8.4.2: During a ban, `Retry-After` is at least the time until the ban ends."
  })
]
