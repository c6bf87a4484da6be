/** Lists the tables of a store. */

/** The table of animals, which is copied in steps; the other tables follow in one transaction. */
export const ANIMALS = "pets"

/** The tables that are copied from one database to another, each after the tables that it references. */
export const copied: ReadonlyArray<string> = [
  ANIMALS,
  "api_keys",
  "api_key_secrets",
  "key_events",
  "admin_tokens",
  "admin_token_secrets",
  "admin_token_events",
  "rate_limits",
  "settings",
  "imports",
  "idempotent_inserts",
  "idempotent_responses"
]

/** Tables that describe the database itself; they are not copied. */
export const uncopied: ReadonlyArray<string> = ["animal_store_migrations", "copies"]
