/** Checks where the guides have tables of options, and how the tables are rendered. */
import { describe, expect, it } from "vitest"
import { renderPage } from "./OptionTables.ts"
import { read } from "./Pages.fixture.ts"

describe("the options", () => {
  it("of openAnimalStore, listen and serve have tables in the guides", () => {
    const starts = [
      ...(read("docs/embedding.md") + read("docs/operating.md")).matchAll(/<!-- options: (\w+) -->/g)
    ]
    expect(starts.map(([, name]) => name)).toEqual(["openAnimalStore", "listen", "serve"])
  })
})

describe("renderPage", () => {
  it("replaces only the text between the comments, and selects the flags that a comment names", () => {
    const page = "# Page\n<!-- options: serve --port --strict -->\nold\n<!-- end -->\nlast line\n"
    expect(renderPage(page)).toBe(
      [
        "# Page",
        "<!-- options: serve --port --strict -->",
        "",
        "| Flag | Variable | Default | Meaning |",
        "| --- | --- | --- | --- |",
        "| `--port PORT` | `ANIMAL_STORE_PORT` | 3000 | TCP port to listen on; 0 chooses a free port. |",
        "| `--strict`, `--no-strict` | `ANIMAL_STORE_STRICT` | off | Reject unknown body fields and query parameters instead of ignoring them. |",
        "",
        "<!-- end -->",
        "last line",
        ""
      ].join("\n")
    )
  })

  it("rejects a table that does not exist", () => {
    expect(() => renderPage("<!-- options: bind -->\n<!-- end -->")).toThrow("no table of options named bind")
  })
})
