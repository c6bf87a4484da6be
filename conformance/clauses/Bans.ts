/** Clauses about bans of keys that ignore a 429. */
import { design, optional, spec, unchecked } from "./Clause.ts"

export const clauses = [
  ...spec({
    "ban.possible": unchecked(
      "§8.4.3: Repeated requests after a 429 may lead to a ban of the key, so clients should back off exponentially.",
      "It is a permission for the service, and advice to clients."
    ),
    "ban.temporary": optional("§8.4.3: A ban ends.", "The service bans no key."),
    "ban.only-that-key": optional(
      "§8.4.3: A ban applies only to the key whose requests caused it.",
      "The service bans no key."
    )
  }),
  ...design({
    "ban.rules": "§8.4.3: A key is banned after 20 strikes within 5 minutes of the first.",
    "ban.strike":
      "§8.4.3: A strike is a denied request for which no slot is free; there are as many slots as requests in a full bucket.",
    "ban.first-429": "§8.4.3: A denied request that gets a slot is not a strike.",
    "ban.strike-interval": "§8.4.3: At most one strike is counted per second, so a burst is one strike.",
    "ban.strikes-expire": "§8.4.3: A new count begins five minutes after the first strike.",
    "ban.answer": "§8.4.3: A banned key gets 429 with the code `api_key_banned`.",
    "ban.unchanged-by-requests":
      "§8.4.3: Requests during a ban neither prolong it nor change any other state.",
    "ban.levels":
      "§8.4.3: The first ban lasts 1 minute, the next two last 5 and 15 minutes, and all later ones last 60 minutes.",
    "ban.clean-day": "§8.4.3: Every full 24 hours without a strike or ban shortens the next ban by one step.",
    "ban.polite-never":
      "§8.4.3: A client that sends one request at a time and waits for `Retry-After` is never banned.",
    "ban.workers-never":
      "§8.4.3: Clients that share a key and wait for `Retry-After` are never banned, if its bucket has a request for each.",
    "ban.day-workers-never":
      "§8.4.3: Eight clients that retry every 30 seconds after the daily limit is reached are never banned.",
    "ban.capped-wait-never":
      "§8.4.3: A client that sends one request at a time and waits at most 30 seconds is never banned.",
    "ban.anonymous-never": "§8.4.3: A client without a valid key is never banned.",
    "ban.headers":
      "§8.3: During a ban, Limit is the per-minute limit, Remaining is 0, and Reset is the end of the ban.",
    "ban.retry-after": "§8.4.2: During a ban, `Retry-After` is at least the time until the ban ends."
  })
]
