/** The descriptions of the commands that are loaded on demand; the help shows them without loading the commands. */
export const descriptions = {
  conformance: "Test whether a server in any language conforms to the contract.",
  copy: "Copy animals, keys, rate limits and the cursor key into an empty database, and compare both. Run the command again to resume an unfinished copy.",
  export:
    "Write all animals as lines of JSON, in ascending order of id. Servers can keep running on the database.",
  import:
    "Store the animals in a file, each line like a body of POST /v1/pets. Run the command again to resume an unfinished import."
} as const
