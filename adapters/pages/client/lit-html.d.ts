/** The types of the library that the server sends under this name. */
export * from "lit-html"
