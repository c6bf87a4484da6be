/** `npm run simulate`: runs the scenarios of `docs/scaling.md`, and writes their table. */
import * as fs from "node:fs"
import * as Table from "./Table.ts"

fs.writeFileSync(Table.file, Table.page())
