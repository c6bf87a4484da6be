/** The descriptions of the commands that are loaded on demand; the help shows them without loading the commands. */
export const descriptions = {
  conformance: "Test whether a server in any language conforms to the contract.",
  copy: "Copy animals, keys, rate limits and the cursor key into an empty database, and verify that source and target are equal. Run the command again to resume an unfinished copy.",
  export: "Write all animals as JSON Lines, by ascending id. Servers can keep using the database.",
  import:
    "Import animals from a JSON Lines file; each line is like a POST /v1/pets body, optionally with an id. Run the command again to resume an unfinished import."
} as const
