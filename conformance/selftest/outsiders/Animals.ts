import * as Effect from "effect/Effect"
import { text } from "../../http/Wire.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Lists from "../spoilers/Lists.ts"
import * as Requests from "../spoilers/Requests.ts"
import * as Outsider from "./Outsider.ts"

const { names, onPlain } = Outsider

const operations = [
  ["lists", Requests.isList],
  ["retrievals", Requests.isGet],
  ["creations", Requests.isCreation]
] as const

const changes: ReadonlyArray<readonly [string, string, (name: string) => string]> = [
  ["nul-cut", "cut at NUL", (name) => name.split("\u0000")[0] ?? ""],
  ["newline-lost", "without line feeds", (name) => name.replaceAll("\n", "")],
  ["newline-space", "with spaces for line feeds", (name) => name.replaceAll(/[\r\n]/g, " ")],
  ["tab-space", "with spaces for tabs", (name) => name.replaceAll("\t", " ")],
  [
    "escaped",
    "escaped for HTML",
    (name) => name.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
  ],
  [
    "quotes-escaped",
    "with quotes escaped for HTML",
    (name) => name.replaceAll('"', "&quot;").replaceAll("'", "&#39;")
  ],
  ["apostrophe-doubled", "with doubled apostrophes", (name) => name.replaceAll("'", "''")],
  ["backslash-doubled", "with doubled backslashes", (name) => name.replaceAll("\\", "\\\\")],
  ["backslash-lost", "without backslashes", (name) => name.replaceAll("\\", "")],
  ["entities", "with entities decoded", (name) => name.replaceAll("&amp;", "&").replaceAll("&lt;", "<")],
  [
    "percent-decoded",
    "percent-decoded",
    (name) => {
      try {
        return decodeURIComponent(name)
      } catch {
        return name
      }
    }
  ],
  ["plus-space", "with spaces for plus signs", (name) => name.replaceAll("+", " ")],
  ["tags-lost", "without tags", (name) => name.replaceAll(/<[^>]*>/g, "")],
  ["zwj-lost", "without joiners", (name) => name.replaceAll("\u200d", "")],
  ["marks-lost", "without marks", (name) => name.normalize("NFD").replaceAll(/\p{M}/gu, "")],
  [
    "bidi-lost",
    "without direction marks",
    (name) => name.replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
  ],
  ["control-lost", "without control characters", (name) => name.replaceAll(/\p{Cc}/gu, "")],
  [
    "astral-cut",
    "with characters above U+FFFF replaced",
    (name) => name.replaceAll(/[\u{10000}-\u{10ffff}]/gu, "\ufffd")
  ],
  ["title", "with a capital first letter", (name) => name.charAt(0).toUpperCase() + name.slice(1)],
  ["lower", "in small letters", (name) => name.toLowerCase()],
  ["64", "cut at 64 units", (name) => name.slice(0, 64)],
  ["100", "cut at 100 units", (name) => name.slice(0, 100)],
  [
    "255-bytes",
    "cut at 255 bytes",
    (name) => new TextDecoder().decode(new TextEncoder().encode(name).slice(0, 255)).replace(/\ufffd+$/, "")
  ],
  [
    "numeric",
    "numeric text loses leading zeros",
    (name) => (/^0+\d+$/.test(name) ? String(Number(name)) : name)
  ],
  ["spaces-merged", "with merged spaces", (name) => name.replaceAll(/ +/g, " ")],
  ["trim-lists", "trimmed", (name) => name.trim()],
  ["ellipsis", "with three dots for an ellipsis", (name) => name.normalize("NFKC")]
]

const renamed = operations.flatMap(([where, to]) =>
  changes.map(([id, says, change]) =>
    fault(`out.name-${id}-${where}`, `Names are ${says} in ${where}.`)
      .breaks(where === "creations" ? "create.returns-created" : "resources.stable")
      .by(["nul-cut", "control-lost"].includes(id) ? onPlain(names(to, change)) : names(to, change))
  )
)

/** Names changed when read, so everywhere alike. */
const stored = changes
  .filter(([id]) => !["trim-lists", "ellipsis", "lower", "title"].includes(id))
  .map(([id, says, change]) =>
    fault(`out.stored-${id}`, `Names are stored ${says}.`)
      .breaks("create.returns-created")
      .by(
        Outsider.reads((body) =>
          body.replace(/"name":("(?:[^"\\]|\\.)*")/, (all, name: string) => {
            try {
              return `"name":${JSON.stringify(change(JSON.parse(name)))}`
            } catch {
              return all
            }
          })
        )
      )
  )

const animals: ReadonlyArray<Fault> = [
  fault("out.id-double-get", "Ids beyond 2^53 lose digits in retrievals.")
    .breaks("get.faithful")
    .by(
      onPlain(
        AtHttp.responses(
          { to: Requests.isGet, status: 200 },
          Edit.rewritten((body) =>
            body.replace(/"id":(\d{16,})/, (_, id: string) => `"id":${BigInt(Number(id))}`)
          )
        ),
        { ids: "from 2^53 up" }
      )
    ),
  fault("out.id-double-list", "Ids beyond 2^53 lose digits in lists.")
    .breaks("list.faithful")
    .by(
      onPlain(
        AtHttp.responses(
          { to: Requests.isList, status: 200 },
          Edit.rewritten((body) =>
            body.replace(/"id":(\d{16,})/g, (_, id: string) => `"id":${BigInt(Number(id))}`)
          )
        ),
        { ids: "from 2^53 up" }
      )
    ),
  fault("out.id-double-path", "Ids beyond 2^53 in a path are doubles.")
    .breaks("get.found")
    .by(
      onPlain(
        AtHttp.requests(Requests.isGet, (request) => ({
          ...request,
          target: request.target.replace(/\d{16,18}$/, (id) => String(BigInt(Number(id))))
        })),
        { ids: "from 2^53 up" }
      )
    ),
  fault("out.id-text-list", "An id in a list is text.")
    .breaks("resources.pet-types")
    .by(
      AtHttp.responses(
        { to: Requests.isList, status: 200 },
        Edit.rewritten((body) => body.replace(/"id":(\d+)/g, '"id":"$1"'))
      )
    ),
  fault("out.path-32-bits", "An id in a path is cut to 32 bits.")
    .breaks("get.not-found")
    .by(
      AtHttp.requests(Requests.isGet, (request) => ({
        ...request,
        target: request.target.replace(/\d{10,18}$/, (id) => String(BigInt.asUintN(32, BigInt(id))))
      }))
    ),
  fault("out.path-64-bits", "An id beyond 2^64 wraps.")
    .breaks("get.not-found")
    .by(
      AtHttp.requests(Requests.isGet, (request) => ({
        ...request,
        target: request.target.replace(/\d{19,}$/, (id) => String(BigInt.asIntN(64, BigInt(id))))
      }))
    ),
  fault("out.path-parse-int", "1abc is the id 1.")
    .breaks("get.not-found")
    .by(
      AtHttp.requests(Requests.isGet, (request) => ({
        ...request,
        target: request.target.replace(/(\/pets\/\d+)[^\d/?].*$/, "$1")
      }))
    ),
  fault("out.path-abs", "-1 is the id 1.")
    .breaks("get.not-found")
    .by(
      AtHttp.requests(Requests.isGet, (request) => ({
        ...request,
        target: request.target.replace(/-(\d+)$/, "$1")
      }))
    ),
  fault("out.path-zero-first", "0 is the first animal.")
    .breaks("get.faithful")
    .by(
      AtHttp.requests(Requests.isGet, (request) => ({
        ...request,
        target: request.target.replace(/\/0$/, "/1")
      }))
    ),
  fault("out.path-name", "A name finds an animal.")
    .breaks("get.not-found")
    .by(
      AtHttp.requests(Requests.isGet, (request) => ({
        ...request,
        target: request.target.replace(/\/pets\/(?:abc|null|undefined|NaN|[a-z]+)$/, "/pets/1")
      }))
    ),
  fault("out.get-neighbor", "The id after the last finds the last.")
    .breaks("get.faithful")
    .by(
      Outsider.instead(
        (response, request) =>
          response.status === 404 && Requests.isGet(request) && /\d$/.test(request.target),
        (request) => ({ ...request, target: request.target.replace(/\d+$/, (id) => String(BigInt(id) - 1n)) })
      )
    ),
  fault("out.get-array", "A retrieval returns an array.")
    .breaks("resources.pet-types")
    .by(
      AtHttp.responses(
        { to: Requests.isGet, status: 200 },
        Edit.rewritten((body) => `[${body}]`)
      )
    ),
  fault("out.get-null-status", "An absent status is null in retrievals.")
    .breaks("resources.status-values")
    .by(
      onPlain(
        AtHttp.responses(
          { to: Requests.isGet, status: 200 },
          Edit.rewritten((body) => (body.includes("status") ? body : body.replace(/\}$/, ',"status":null}')))
        ),
        { defaultStatus: "absent" }
      )
    ),
  fault("out.list-null-status", "An absent status is null in lists.")
    .breaks("resources.status-values")
    .by(
      onPlain(
        AtHttp.responses(
          { to: Requests.isList, status: 200 },
          Edit.rewritten((body) =>
            body.replace(/(\{[^{}]*?)\}/g, (all, head: string) =>
              all.includes("status") ? all : `${head},"status":null}`
            )
          )
        ),
        { defaultStatus: "absent" }
      )
    ),
  fault("out.default-status-differs", "An absent status is pending in lists and available in retrievals.")
    .breaks("resources.status-stable")
    .by(
      onPlain(
        AtHttp.responses(
          { to: Requests.isList, status: 200 },
          Edit.rewritten((body) =>
            body.replace(/(\{[^{}]*?)\}/g, (all, head: string) =>
              all.includes("status") ? all : `${head},"status":"pending"}`
            )
          )
        ),
        { defaultStatus: "absent" }
      )
    ),
  fault("out.created-200", "A creation of a sold animal gets 200.")
    .breaks("create.status-201")
    .by(
      AtHttp.responses(
        { to: (request) => Requests.isCreation(request) && /"sold"/.test(text(request.body)), status: 201 },
        Edit.status(200)
      )
    ),
  fault("out.created-202", "A creation with the small key gets 202.")
    .breaks("create.status-201")
    .by(
      AtHttp.responses(
        { to: Outsider.both(Requests.isCreation, Outsider.ofTiny), status: 201 },
        Edit.status(202)
      )
    ),
  fault("out.created-empty", "A creation with an id in the body gets 201 without a body.")
    .breaks("resources.pet-types")
    .by(
      AtHttp.responses(
        { to: (request) => Requests.isCreation(request) && /"id"/.test(text(request.body)), status: 201 },
        Edit.body("")
      )
    ),
  fault("out.sent-id-kept", "An id in the body becomes the id.")
    .breaks("resources.stable")
    .by(
      AtHttp.responses(
        {
          to: (request) => Requests.isCreation(request) && /"id":\s*\d+/.test(text(request.body)),
          status: 201
        },
        (response, request) =>
          Edit.rewritten((body) =>
            body.replace(/"id":\d+/, `"id":${/"id":\s*(\d+)/.exec(text(request.body))?.[1]}`)
          )(response)
      )
    ),
  fault("out.upsert", "A second creation of a name returns the first animal.")
    .breaks("resources.id-unique")
    .by(
      AtHttp.transport((real) => {
        const first = new Map<string, Uint8Array>()
        return (request) =>
          Effect.map(real(request), (response) => {
            if (response.status !== 201) return response
            const name = /"name":("[^"]*")/.exec(text(request.body))?.[1] ?? ""
            const known = first.get(name)
            if (known !== undefined) return { ...response, body: known }
            first.set(name, response.body)
            return response
          })
      })
    ),
  fault("out.unique-names", "A second animal of a name gets 409.")
    .breaks("create.status-201")
    .by(
      AtHttp.transport((real) => {
        const seen = new Set<string>()
        return (request) =>
          Effect.map(real(request), (response) => {
            if (response.status !== 201) return response
            const name = /"name":("[^"]*")/.exec(text(request.body))?.[1] ?? ""
            const isKnown = seen.has(name)
            seen.add(name)
            return isKnown ? Edit.error(409, "conflict")(response) : response
          })
      })
    ),
  fault("out.list-hides-newest", "The newest animal is not listed.")
    .breaks("list.sees-created")
    .by(
      Lists.changesAnimals((all, request) =>
        request.target.includes("?")
          ? all
          : all.filter(({ id }) => id !== all.reduce((most, pet) => (pet.id > most ? pet.id : most), 0n))
      )
    ),
  fault("out.list-hides-zero", "Animals of category 0 are not listed.")
    .breaks("list.sees-created")
    .by(Lists.changesAnimals((all) => all.filter(({ categoryId }) => categoryId !== 0n))),
  fault("out.list-hides-blank", "Animals with a blank in the name are not listed by status.")
    .breaks("list.sees-created")
    .by(
      Lists.changesAnimals((all, request) =>
        Requests.listParameter(request, "status") === null
          ? all
          : all.filter(({ name }) => !name.includes(" "))
      )
    ),
  fault("out.list-merges-names", "Animals with equal names are listed once.")
    .breaks("list.sees-created")
    .by(
      Lists.changesAnimals((all) =>
        all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index)
      )
    ),
  fault("out.rejected-stored", "A creation with an unknown status is stored without it.")
    .breaks("create.refused-unstored")
    .by(
      AtHttp.transport(
        (real) => (request) =>
          Effect.tap(real(request), ({ status }) =>
            status === 400 &&
            Requests.isCreation(request) &&
            /"status":"(?!available|pending|sold)/.test(text(request.body))
              ? real({
                  ...request,
                  body: new TextEncoder().encode(text(request.body).replace(/,"status":"[^"]*"/, ""))
                })
              : Effect.void
          )
      )
    ),
  fault("out.unauthorized-stored", "A creation with a wrong key gets 401 but is stored.")
    .breaks("auth.refused-unstored")
    .by(
      AtHttp.transport(
        (real, { keys }) =>
          (request) =>
            Effect.tap(real(request), ({ status }) =>
              status === 401 && Requests.isCreation(request)
                ? real(Requests.withKey(request, keys.main))
                : Effect.void
            )
      )
    ),
  fault("out.get-deletes", "A third retrieval deletes.")
    .breaks("get.found")
    .by(
      AtHttp.transport((real) => {
        const reads = new Map<string, number>()
        return (request) =>
          Effect.map(real(request), (response) => {
            if (!Requests.isGet(request) || response.status !== 200) return response
            const count = (reads.get(request.target) ?? 0) + 1
            reads.set(request.target, count)
            return count > 2 ? Edit.error(404, "not_found")(response) : response
          })
      })
    ),
  fault("out.pending-gone-at-midnight", "Pending animals are not found after a day.")
    .breaks("get.found")
    .by(
      AtHttp.responses(
        {
          to: (request, { now }) => Requests.isGet(request) && now() % 172_800_000 > 86_400_000,
          status: 200
        },
        (response) =>
          text(response.body).includes('"pending"') ? Edit.error(404, "not_found")(response) : response
      )
    ),
  fault("out.removal-list-410", "Lists get 410 after the removal if filtered.")
    .breaks("get.removed-alone")
    .by(
      AtHttp.responses(
        {
          to: (request, { now }) =>
            Requests.listParameter(request, "status") !== null && now() > Date.UTC(2030, 11, 7)
        },
        Edit.error(410, "gone")
      )
    ),
  fault("out.removal-tiny", "A small key still retrieves after the removal.")
    .breaks("get.removed")
    .by({
      at: "plain",
      choices: { removedAt: "2040-01-01T00:00:00Z" },
      transport: (real, world) => (request) =>
        Effect.map(real(request), (response) =>
          Requests.isGet(request) &&
          world.now() > Date.UTC(2030, 11, 6) &&
          !Requests.hasKey(request, world.keys.tiny) &&
          response.status < 400
            ? Edit.error(404, "gone")(response)
            : response
        )
    }),
  fault("out.removal-missing-only", "After the removal only unknown ids get 404.")
    .breaks("get.removed")
    .by({ at: "plain", choices: { removedAt: "2031-12-05T00:00:00Z" } }),
  fault("out.error-status-text", "The status of a 404 is text.")
    .breaks("errors.body-types")
    .by(
      AtHttp.responses(
        { status: 404 },
        Edit.rewritten((body) => body.replace('"status":404', '"status":"404"'))
      )
    ),
  fault("out.error-code-blank-400", "The code of a 400 to a list is blank.")
    .breaks("errors.body-types")
    .by(
      AtHttp.responses(
        { to: Requests.isList, status: 400 },
        Edit.rewritten((body) => body.replace(/"code":"[^"]*"/, '"code":" "'))
      )
    ),
  fault("out.error-number-code", "The code of a 429 is a number.")
    .breaks("errors.body-types")
    .by(
      AtHttp.responses(
        { status: 429 },
        Edit.rewritten((body) => body.replace(/"code":"[^"]*"/, '"code":429'))
      )
    ),
  fault("out.error-html-405", "A 405 is HTML.")
    .breaks("http.json-bodies")
    .by(
      AtHttp.responses({ status: 405 }, (response) =>
        Edit.header("Content-Type", "text/html")(Edit.body("<h1>405</h1>")(response))
      )
    ),
  fault("out.error-html-413", "A 413 is HTML.")
    .breaks("http.json-bodies")
    .by(
      AtHttp.responses({ status: 413 }, (response) =>
        Edit.header("Content-Type", "text/html")(Edit.body("<h1>413</h1>")(response))
      )
    ),
  fault("out.error-text-unknown-path", "An unknown path gets plain text.")
    .breaks("http.json-bodies")
    .by(
      AtHttp.responses({ to: (request) => !request.target.includes("/pets"), status: 404 }, (response) =>
        Edit.header("Content-Type", "text/plain")(Edit.body("404 page not found")(response))
      )
    ),
  fault("out.error-mismatch-415", "The status in a 415 is 400.")
    .breaks("errors.status-matches")
    .by(
      AtHttp.responses(
        { status: 415 },
        Edit.rewritten((body) => body.replace('"status":415', '"status":400'))
      )
    ),
  fault("out.error-empty-404", "A 404 of a small key is empty.")
    .breaks("errors.body")
    .by(AtHttp.responses({ to: Outsider.ofTiny, status: 404 }, Edit.body(""))),
  fault("out.error-nested", "The error of a 400 is nested.")
    .breaks("errors.body")
    .by(
      AtHttp.responses(
        { status: 400, to: Requests.isCreation },
        Edit.rewritten((body) => `{"error":${body}}`)
      )
    ),
  fault("out.crash-emoji", "An emoji in a status filter gets 500.")
    .breaks("errors.no-5xx")
    .by(
      AtHttp.responses(
        { to: (request) => /status=[^&]*%F0/i.test(request.target) },
        Edit.error(500, "internal_error")
      )
    ),
  fault("out.crash-large-id", "A retrieval of an id beyond int64 gets 500.")
    .breaks("errors.no-5xx")
    .by(
      AtHttp.responses(
        { to: (request) => /\/pets\/\d{19,}$/.test(request.target) },
        Edit.error(500, "internal_error")
      )
    ),
  fault("out.crash-huge-limit", "A huge limit gets 500.")
    .breaks("errors.no-5xx")
    .by(
      AtHttp.responses(
        { to: (request) => /limit=\d{19,}/.test(request.target) },
        Edit.error(500, "internal_error")
      )
    ),
  fault("out.crash-null-body", "A body of null gets 500.")
    .breaks("errors.no-5xx")
    .by(
      AtHttp.responses(
        { to: (request) => Requests.isCreation(request) && text(request.body).trim() === "null" },
        Edit.error(500, "internal_error")
      )
    ),
  fault("out.crash-empty-body", "An empty body gets 500.")
    .breaks("errors.no-5xx")
    .by(
      AtHttp.responses(
        { to: (request) => Requests.isCreation(request) && text(request.body) === "" },
        Edit.error(500, "internal_error")
      )
    ),
  fault("out.crash-nul", "A NUL in a name gets 500.")
    .breaks("errors.no-5xx")
    .by(
      AtHttp.responses(
        { to: (request) => Requests.isCreation(request) && text(request.body).includes("\\u0000") },
        Edit.error(500, "internal_error")
      )
    )
]

export const faults: ReadonlyArray<Fault> = [...renamed, ...stored, ...animals]
