/** A store of ours with the catalogue in it and the two callers known. */
import { type AnimalStore, openAnimalStore } from "../../../adapters/embed/index.ts"
import { animals, ENDLESS, type Tokens } from "../Catalogue.ts"

export const openFilled = async (
  database: string
): Promise<{ readonly store: AnimalStore; readonly tokens: Tokens }> => {
  const store = await openAnimalStore({
    database,
    // Refused callers have a bucket of their own, which must not run empty either: a 429 is measured elsewhere.
    anonymousPlan: { perMinute: ENDLESS, perDay: ENDLESS },
    // A ban would take a shorter way through the limits than a refusal.
    ban: { strikes: ENDLESS }
  })
  const issue = async (perMinute: number, perDay: number): Promise<string> =>
    (await store.keys.issue({ plan: "Enterprise", limits: { perMinute, perDay } })).key
  const tokens = { endless: await issue(ENDLESS, ENDLESS), exhausted: await issue(1, 1) }
  for (const animal of animals) {
    const answer = await store.fetch(
      new Request("http://127.0.0.1/v1/pets", {
        method: "POST",
        headers: { authorization: `Bearer ${tokens.endless}`, "content-type": "application/json" },
        body: JSON.stringify(animal)
      })
    )
    if (answer.status !== 201) throw new Error(await answer.text())
  }
  return { store, tokens }
}
