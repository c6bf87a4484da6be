/** Backends that list, keep or find animals wrongly. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { PageQuery } from "../../../core/domain/Page.ts"
import { Pet } from "../../../core/domain/Pet.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { PetRepository } from "../../../core/ports/PetRepository.ts"
import type { Animal } from "../../checks/Catalogue.ts"
import type { Transport } from "../../http/Wire.ts"
import type { Fault, Spoil } from "../Fault.ts"
import { found } from "../Found.ts"
import * as Rewrite from "../Rewrite.ts"

type Pets = PetRepository["Service"]

/** A repository that answers `page` in another way. */
const page =
  (spoiled: (query: PageQuery, real: Pets) => ReturnType<Pets["page"]>): Spoil<Pets> =>
  (real) => ({ ...real, page: (query) => spoiled(query, real) })

/** A repository whose `page` is changed afterwards. */
const paged = (change: (pets: ReadonlyArray<Pet>, query: PageQuery) => ReadonlyArray<Pet>): Spoil<Pets> =>
  page((query, real) => Effect.map(real.page(query), (pets) => change(pets, query)))

/** A repository that stores something else. */
const inserting =
  (change: (pet: Parameters<Pets["insert"]>[0]) => Parameters<Pets["insert"]>[0]): Spoil<Pets> =>
  (real) => ({
    ...real,
    insert: (pet) => real.insert(change(pet))
  })

/** Everything, whatever was asked for. */
const everything: PageQuery = { limit: 1_000_000, status: undefined, after: undefined }

/** A server that reads a limit as what `lenient` makes of it; what it leaves `undefined` is read as it is. */
const limitRead =
  (lenient: (limit: string) => number | undefined) =>
  (real: Transport): Transport =>
    Rewrite.requests((request) => {
      const given = Rewrite.isList(request) ? Rewrite.parameters(request).get("limit") : null
      const read = given === null ? undefined : lenient(given)
      return read === undefined ? request : Rewrite.withParameter(request, "limit", String(read))
    })(real)

/** A server that reads a status as what `lenient` makes of it; an answer of `null` leaves the filter out. */
const statusRead =
  (lenient: (status: string) => PetStatus.PetStatus | null | undefined) =>
  (real: Transport): Transport =>
    Rewrite.requests((request) => {
      const given = Rewrite.isList(request) ? Rewrite.parameters(request).get("status") : null
      const read = given === null ? undefined : lenient(given)
      return read === undefined ? request : Rewrite.withParameter(request, "status", read ?? undefined)
    })(real)

/** A server with another default for lists with this status. */
const defaultOf = (status: PetStatus.PetStatus, limit: string): ((real: Transport) => Transport) =>
  Rewrite.requests((request) => {
    const given = Rewrite.parameters(request)
    return Rewrite.isList(request) && given.get("status") === status && !given.has("limit")
      ? Rewrite.withParameter(request, "limit", limit)
      : request
  })

/** A server that shows other names in lists with a status only. */
const namedInFilter = (change: (name: string) => string): ((real: Transport) => Transport) =>
  Rewrite.lists((animals, request) =>
    Rewrite.parameters(request).has("status")
      ? animals.map((animal) => ({ ...animal, name: change(animal.name) }))
      : animals
  )

/** Lists that are changed on their way to the client. */
const lists = (change: (animals: ReadonlyArray<Animal>) => unknown) => Rewrite.lists(change)

/** How a server of its own makes pages: right, where nothing is said. */
interface Paging {
  /** Whether an animal comes on a page after `after`. */
  readonly follows?: (id: bigint, after: bigint) => boolean
  /** The filter of a later page. */
  readonly filter?: (status: string | null) => string | null
  /** Whether a cursor is accepted that was made for another filter. */
  readonly isUnbound?: boolean
  /** What a cursor that was never given out is taken for. */
  readonly forged?: (cursor: string) => bigint | undefined
  /** Whether a page is linked to the next; `more` animals come after it. */
  readonly isLinked?: (more: number, page: ReadonlyArray<Animal>, limit: number) => boolean
  /** Largest list. */
  readonly ceiling?: number
  readonly address?: (path: string) => string
  /** Parameters of the next link. */
  readonly keeps?: (parameters: URLSearchParams) => void
}

/** A server that keeps its own lists of the animals that it saw created, with cursors of its own. */
const paging =
  ({
    address = (path) => path,
    ceiling = 100,
    filter = (status) => status,
    follows = (id, after) => id > after,
    forged = () => undefined,
    isLinked = (more) => more > 0,
    isUnbound = false,
    keeps = () => {}
  }: Paging) =>
  (real: Transport): Transport => {
    const animals: Array<Animal> = []
    const given = new Map<string, { readonly after: bigint; readonly status: string | null }>()
    return (request) => {
      if (!Rewrite.isList(request)) {
        return Effect.map(real(request), (response) => {
          const animal = Rewrite.isCreation(request) && response.status === 201 && Rewrite.animalOf(response)
          if (animal) animals.push(animal)
          return response
        })
      }
      const parameters = Rewrite.parameters(request)
      const [cursor, status] = [parameters.get("cursor"), parameters.get("status")]
      const limit = Number(parameters.get("limit") ?? 20)
      const known = given.get(cursor ?? "")
      const isAccepted = cursor === null || (known !== undefined && (isUnbound || known.status === status))
      const after = isAccepted ? known?.after : forged(cursor)
      if (!isAccepted && after === undefined) return real(Rewrite.withParameter(request, "limit", "0"))
      const asked = limit > 100 && limit <= ceiling ? Rewrite.withParameter(request, "limit", "100") : request
      return Effect.map(real(Rewrite.withParameter(asked, "cursor", undefined)), (response) => {
        if (response.status !== 200) return response
        const wanted = after === undefined ? status : filter(status)
        const all = animals.filter(
          (animal) =>
            (wanted === null || animal.status === wanted) &&
            (after === undefined || follows(animal.id, after))
        )
        const listed = all.slice(0, limit)
        const plain = Rewrite.withoutHeader(Rewrite.withBody(response, Rewrite.write(listed)), "link")
        const last = listed.at(-1)
        if (last === undefined || !isLinked(all.length - listed.length, listed, limit)) return plain
        const next = `${given.size}.${last.id}`
        given.set(next, { after: last.id, status })
        parameters.set("cursor", next)
        keeps(parameters)
        const path = request.target.split("?")[0] ?? ""
        return Rewrite.withHeader(plain, "Link", `<${address(path)}?${parameters}>; rel="next"`)
      })
    }
  }

export const faults: ReadonlyArray<Fault> = [
  // How many
  {
    id: "list.limit-ignored",
    does: "Lists all animals, whatever limit was asked for.",
    breaks: "list.limit.maximum-returned",
    killedBy: "list.limit",
    words: "1 sold animals 2 animals",
    where: { at: "port", pets: page((query, real) => real.page({ ...query, limit: everything.limit })) }
  },
  {
    id: "list.limit-plus-one",
    does: "Lists one animal more than asked for.",
    breaks: "list.limit.maximum-returned",
    killedBy: "list.limit",
    words: "1 sold animals 2 animals",
    where: { at: "port", pets: page((query, real) => real.page({ ...query, limit: query.limit + 1 })) }
  },
  {
    id: "list.limit-minus-one",
    does: "Lists one animal fewer than asked for.",
    breaks: "list.complete",
    killedBy: "list.limit",
    words: "1 at least 0 animals",
    where: { at: "port", pets: page((query, real) => real.page({ ...query, limit: query.limit - 1 })) }
  },
  {
    id: "list.limit-one-means-two",
    does: "Lists two animals when one was asked for.",
    breaks: "list.limit.maximum-returned",
    killedBy: "list.limit",
    words: "at most 1 sold animals 2 animals",
    where: {
      at: "http",
      transport: limitRead((limit) => (limit === "1" ? 2 : undefined))
    }
  },
  {
    id: "list.default-10",
    does: "Lists 10 animals when no limit was given.",
    breaks: "list.limit.default-fills",
    killedBy: "list.limit.default",
    words: "since more are there 10",
    where: {
      at: "http",
      transport: Rewrite.requests((request) =>
        Rewrite.isList(request) && !Rewrite.parameters(request).has("limit")
          ? Rewrite.withParameter(request, "limit", "10")
          : request
      )
    }
  },
  {
    id: "list.default-10-of-available",
    does: "Lists 10 animals when no limit was given, but the status available.",
    breaks: "list.limit.default-fills",
    killedBy: "list.limit.default",
    words: "20 available in a list without limit, since more are there 10",
    where: { at: "http", transport: defaultOf("available", "10") }
  },
  {
    id: "list.default-10-of-sold",
    does: "Lists 10 animals when no limit was given, but the status sold.",
    breaks: "list.limit.default-fills",
    killedBy: "list.limit.default",
    words: "20 sold in a list without limit, since more are there 10",
    where: { at: "http", transport: defaultOf("sold", "10") }
  },
  {
    id: "list.default-100-of-pending",
    does: "Lists 100 animals when no limit was given, but the status pending.",
    breaks: "list.limit.default",
    killedBy: "list.limit.default",
    words: "20 pending in a list without limit, since more are there 21",
    where: { at: "http", transport: defaultOf("pending", "100") }
  },
  {
    id: "list.default-100",
    does: "Lists 100 animals when no limit was given.",
    breaks: "list.limit.default",
    killedBy: "list.limit.default",
    words: "since more are there 21",
    where: {
      at: "http",
      transport: Rewrite.requests((request) =>
        Rewrite.isList(request) && !Rewrite.parameters(request).has("limit")
          ? Rewrite.withParameter(request, "limit", "100")
          : request
      )
    }
  },
  {
    id: "list.ninety-at-most",
    does: "Lists 90 animals when more were asked for.",
    breaks: "list.complete",
    killedBy: "list.limit.full",
    words: "90 after 10 more were created",
    where: { at: "http", transport: limitRead((limit) => (Number(limit) > 90 ? 90 : undefined)) }
  },
  {
    id: "list.short-from-fifty",
    does: "Leaves out every third animal of lists of more than 50.",
    breaks: "list.complete",
    killedBy: "list.limit.full",
    words: "99 animals 66",
    where: {
      at: "http",
      transport: Rewrite.lists((animals, request) =>
        animals.length > 50 && Rewrite.parameters(request).get("limit") !== "100"
          ? animals.filter((_, index) => index % 3 !== 0)
          : animals
      )
    }
  },
  {
    id: "list.largest-limit-refused",
    does: "Refuses a limit of 100.",
    breaks: "list.limit.accepted",
    killedBy: "list.limit.accepted",
    words: "limit=100 400",
    where: { at: "http", transport: limitRead((limit) => (limit === "100" ? 101 : undefined)) }
  },
  {
    id: "list.two-digits-only",
    does: "Lists 10 animals when 100 were asked for, as it reads two digits.",
    breaks: "list.complete",
    killedBy: "list.limit.full",
    words: "10 after 90 more were created",
    where: {
      at: "http",
      transport: limitRead((limit) => (limit.length > 2 ? Number(limit.slice(0, 2)) : undefined))
    }
  },
  {
    id: "list.more-than-100",
    does: "Accepts a limit above 100 and lists as many animals.",
    breaks: "list.limit.ceiling",
    killedBy: "list.limit.ceiling",
    words: "?limit=101 101",
    where: { at: "http", transport: paging({ ceiling: 1_000 }) }
  },
  {
    id: "list.zero-means-all",
    does: "Lists all animals when the limit is 0.",
    breaks: "list.limit.ceiling",
    killedBy: "list.limit.ceiling",
    words: "?limit=0 10",
    where: {
      at: "http",
      transport: (real) => {
        const large = paging({ ceiling: 1_000 })(real)
        return (request) => {
          if (!Rewrite.isList(request)) return large(request)
          const isZero = Rewrite.parameters(request).get("limit") === "0"
          return isZero ? large(Rewrite.withParameter(request, "limit", "1000")) : real(request)
        }
      }
    }
  },

  // Which limits are read
  {
    id: "list.limit-101-clamped",
    does: "Reads a limit above 100 as 100.",
    breaks: "list.limit.range",
    killedBy: "list.limit.range",
    words: "?limit=101 200",
    where: { at: "http", transport: limitRead((limit) => (Number(limit) > 100 ? 100 : undefined)) }
  },
  {
    id: "list.limit-zero-clamped",
    does: "Reads a limit of 0 as 1.",
    breaks: "list.limit.range",
    killedBy: "list.limit.range",
    words: "?limit=0 200",
    where: { at: "http", transport: limitRead((limit) => (limit === "0" ? 1 : undefined)) }
  },
  {
    id: "list.limit-negative-clamped",
    does: "Reads a negative limit as 1.",
    breaks: "list.limit.range",
    killedBy: "list.limit.range",
    words: "?limit=-1 200",
    where: { at: "http", transport: limitRead((limit) => (/^-[0-9]/.test(limit) ? 1 : undefined)) }
  },
  {
    id: "list.limit-wraps",
    does: "Keeps the lowest 32 bits of a limit, so that a huge one comes into range.",
    breaks: "list.limit.range",
    killedBy: "list.limit.range",
    words: "?limit=4294967297 200",
    where: {
      at: "http",
      transport: limitRead((limit) =>
        /^[0-9]{10,18}$/.test(limit) ? Number(BigInt.asIntN(32, BigInt(limit))) : undefined
      )
    }
  },
  {
    id: "list.limit-leading-zeros",
    does: "Reads a limit with leading zeros.",
    breaks: "list.limit.syntax",
    killedBy: "list.limit.syntax",
    words: "?limit=05 200",
    where: {
      at: "http",
      transport: limitRead((limit) => (/^0+[1-9]/.test(limit) ? Number(limit) : undefined))
    }
  },
  {
    id: "list.limit-plus-sign",
    does: "Reads a limit with a plus sign.",
    breaks: "list.limit.syntax",
    killedBy: "list.limit.syntax",
    words: "?limit=%2B5 200",
    where: {
      at: "http",
      transport: limitRead((limit) => (/^\+[1-9][0-9]*$/.test(limit) ? Number(limit) : undefined))
    }
  },
  {
    id: "list.limit-trimmed",
    does: "Reads a limit with blanks around it.",
    breaks: "list.limit.syntax",
    killedBy: "list.limit.syntax",
    words: "?limit=+5 200",
    where: {
      at: "http",
      transport: limitRead((limit) => (/^\s+[1-9]|[0-9]\s+$/.test(limit) ? Number(limit.trim()) : undefined))
    }
  },
  {
    id: "list.limit-line-end",
    does: "Reads a limit with a line feed after it, as an expression does whose $ matches before it.",
    breaks: "list.limit.syntax",
    killedBy: "list.limit.syntax",
    words: "?limit=5%0A 200",
    where: {
      at: "http",
      transport: limitRead((limit) => (/^[1-9][0-9]?\n$/.test(limit) ? Number(limit) : undefined))
    }
  },
  {
    id: "list.limit-exponent",
    does: "Reads a limit with an exponent.",
    breaks: "list.limit.syntax",
    killedBy: "list.limit.syntax",
    words: "?limit=1e1 200",
    where: {
      at: "http",
      transport: limitRead((limit) => (/^[1-9]e[0-9]$/i.test(limit) ? Number(limit) : undefined))
    }
  },
  {
    id: "list.limit-fraction",
    does: "Reads a limit with a fraction and cuts it off.",
    breaks: "list.limit.syntax",
    killedBy: "list.limit.syntax",
    words: "?limit=1.0 200",
    where: {
      at: "http",
      transport: limitRead((limit) =>
        /^[1-9][0-9]*\.[0-9]+$/.test(limit) ? Math.trunc(Number(limit)) : undefined
      )
    }
  },
  {
    id: "list.limit-hexadecimal",
    does: "Reads a limit in hexadecimal.",
    breaks: "list.limit.syntax",
    killedBy: "list.limit.syntax",
    words: "?limit=0x10 200",
    where: {
      at: "http",
      transport: limitRead((limit) => (/^0x[0-9a-f]+$/i.test(limit) ? Number(limit) : undefined))
    }
  },
  {
    id: "list.limit-trailing-text",
    does: "Reads the digits that a limit begins with, as parseInt does.",
    breaks: "list.limit.syntax",
    killedBy: "list.limit.syntax",
    words: "?limit=10abc 200",
    where: {
      at: "http",
      transport: limitRead((limit) =>
        /^[1-9][0-9]*[a-z]+$/.test(limit) ? Number.parseInt(limit, 10) : undefined
      )
    }
  },
  {
    id: "list.limit-empty",
    does: "Reads an empty limit as none.",
    breaks: "list.limit.syntax",
    killedBy: "list.limit.syntax",
    words: "400 invalid_parameter to ?limit= 200",
    where: { at: "http", transport: limitRead((limit) => (limit === "" ? 20 : undefined)) }
  },
  {
    id: "list.limit-foreign-digits",
    does: "Reads digits of other scripts, as an expression does whose \\d means all of them.",
    breaks: "list.limit.syntax",
    killedBy: "list.limit.syntax",
    words: "?limit=%EF%BC%95 200",
    where: {
      at: "http",
      transport: limitRead((limit) =>
        /^\p{Nd}$/u.test(limit) ? Number(limit.normalize("NFKC")) || 5 : undefined
      )
    }
  },
  {
    id: "list.limit-decoded-twice",
    does: "Decodes the percent-encoding of a limit twice.",
    breaks: "list.limit.syntax",
    killedBy: "list.limit.syntax",
    words: "?limit=%255 200",
    where: { at: "http", transport: limitRead((limit) => (/^%[0-9]/.test(limit) ? 5 : undefined)) }
  },
  {
    id: "list.limit-garbage-is-default",
    does: "Reads a limit that is no number as none.",
    breaks: "list.limit.syntax",
    killedBy: "list.limit.syntax",
    words: "400 invalid_parameter to ?limit=true 200",
    where: {
      at: "http",
      transport: limitRead((limit) => (/[0-9]/.test(limit) || limit === "" ? undefined : 20))
    }
  },
  {
    id: "list.limit-repeated",
    does: "Reads the first of several limits.",
    breaks: "list.limit.repeated",
    killedBy: "list.limit.repeated",
    words: "limit=5&limit=5 200",
    where: { at: "http", transport: limitRead(Number) }
  },
  {
    id: "list.parameters-undecoded",
    does: "Refuses percent-encoding in a query.",
    breaks: "list.limit.accepted",
    killedBy: "list.parameters.decoded",
    words: "200 with a bare array of animals to /v1/pets?limit=%31 400",
    where: {
      at: "http",
      transport: Rewrite.requests((request) =>
        Rewrite.isList(request) && request.target.includes("%")
          ? Rewrite.withParameter(request, "limit", "%")
          : request
      )
    }
  },
  {
    id: "list.parameters-any-case",
    does: "Reads the names of parameters in any case.",
    breaks: "list.unknown-parameters",
    killedBy: "list.unknown-parameters",
    words: "?Limit=1 ids 1",
    where: {
      at: "http",
      transport: Rewrite.requests((request) => {
        const given = [...Rewrite.parameters(request)].map(
          ([name, value]) => [name.toLowerCase(), value] as [string, string]
        )
        return Rewrite.isList(request) ? Rewrite.withParameters(request, new URLSearchParams(given)) : request
      })
    }
  },
  {
    id: "list.unknown-parameters-refused",
    does: "Refuses parameters that it does not know.",
    breaks: "list.unknown-parameters",
    killedBy: "list.unknown-parameters",
    words: "200 with a bare array of animals to /v1/pets?colour=red 400",
    where: { at: "http", options: { strict: true } }
  },
  {
    id: "list.parameter-code",
    does: "Refuses a wrong parameter with the code of a wrong body.",
    breaks: "list.parameter-code",
    killedBy: "list.limit.range",
    words: "400 invalid_parameter to ?limit=0 400",
    where: {
      at: "http",
      transport: Rewrite.answers((response, request) =>
        Rewrite.isList(request) && response.status === 400
          ? Rewrite.withJson(response, (error) => ({ ...Object(error), code: "invalid_body" }))
          : response
      )
    }
  },

  // Which animals
  {
    id: "list.filter-ignored",
    does: "Lists animals of every status, whatever filter was given.",
    breaks: "list.status.filter",
    killedBy: "list.filter",
    words: "with that status one that is",
    where: { at: "port", pets: page((query, real) => real.page({ ...query, status: undefined })) }
  },
  {
    id: "list.filter-ignored-at-20",
    does: "Lists animals of every status when 20 were asked for.",
    breaks: "list.status.filter",
    killedBy: "list.filter",
    words: "with that status one that is",
    where: {
      at: "http",
      transport: Rewrite.requests((request) =>
        Rewrite.isList(request) && Rewrite.parameters(request).get("limit") === "20"
          ? Rewrite.withParameter(request, "status", undefined)
          : request
      )
    }
  },
  {
    id: "list.filter-inverted",
    does: "Lists the animals that do not have the wanted status.",
    breaks: "list.status.filter",
    killedBy: "list.filter",
    words: "with that status one that is",
    where: {
      at: "port",
      pets: page((query, real) =>
        query.status === undefined
          ? real.page(query)
          : Effect.map(real.page(everything), (pets) =>
              pets.filter(({ status }) => status !== query.status).slice(0, query.limit)
            )
      )
    }
  },
  {
    id: "list.filter-forgets-sold",
    does: "Leaves sold animals out of lists without a filter.",
    breaks: "list.status.all",
    killedBy: "list.filter",
    words: "animals, without {id",
    where: {
      at: "port",
      pets: page((query, real) =>
        query.status !== undefined
          ? real.page(query)
          : Effect.map(real.page(everything), (pets) =>
              pets.filter(({ status }) => status !== "sold").slice(0, query.limit)
            )
      )
    }
  },
  {
    id: "list.filter-after-limit",
    does: "Applies the filter to what the limit left over.",
    breaks: "list.status.before-limit",
    killedBy: "list.limit",
    words: "1 at least 0 animals",
    where: {
      at: "port",
      pets: page((query, real) =>
        Effect.map(real.page({ ...query, status: undefined }), (pets) =>
          pets.filter(({ status }) => query.status === undefined || status === query.status)
        )
      )
    }
  },
  {
    id: "list.filter-after-limit-http",
    does: "Applies the filter to the first page of all animals.",
    breaks: "list.status.before-limit",
    killedBy: "list.limit",
    words: "1 at least 0 animals",
    where: {
      at: "http",
      transport: (real) => (request) => {
        const status = Rewrite.isList(request) ? Rewrite.parameters(request).get("status") : null
        return status !== null && PetStatus.is(status)
          ? Rewrite.lists((animals) => animals.filter((animal) => animal.status === status))(real)(
              Rewrite.withParameter(request, "status", undefined)
            )
          : real(request)
      }
    }
  },
  {
    id: "list.unknown-status-lists-all",
    does: "Ignores a filter that is no status.",
    breaks: "list.status.filter",
    killedBy: "list.status.others",
    words: "?status=lost {id",
    where: {
      at: "http",
      transport: statusRead((status) => (PetStatus.is(status) || status === "" ? undefined : null))
    }
  },
  {
    id: "list.status-wildcards",
    does: "Compares the status with LIKE, so that % and _ stand for anything.",
    breaks: "list.status.filter",
    killedBy: "list.status.others",
    words: "?status=sol%25 {id",
    where: {
      at: "http",
      transport: statusRead((status) => {
        if (!/[%_]/.test(status) || /[^a-z%_]/.test(status)) return undefined
        const like = new RegExp(`^${status.replaceAll("%", ".*").replaceAll("_", ".")}$`)
        return PetStatus.all.find((one) => like.test(one))
      })
    }
  },
  {
    id: "list.status-injected",
    does: "Puts the status into its query language as it came, so that a quote ends it.",
    breaks: "list.status.filter",
    killedBy: "list.status.others",
    words: "'1'='1 {id",
    where: { at: "http", transport: statusRead((status) => (/' or '/i.test(status) ? null : undefined)) }
  },
  {
    id: "list.status-prefix",
    does: "Takes the beginning of a status for the whole.",
    breaks: "list.status.filter",
    killedBy: "list.status.others",
    words: "?status=sol {id",
    where: {
      at: "http",
      transport: statusRead((status) =>
        PetStatus.all.find((one) => status.length > 2 && one.startsWith(status))
      )
    }
  },
  {
    id: "list.unknown-status-empty",
    does: "Answers an unknown status with an empty list.",
    breaks: "list.status.unknown",
    killedBy: "list.status.unknown",
    words: "400 invalid_parameter to ?status=lost 200",
    where: {
      at: "http",
      transport: (real) => (request) => {
        const status = Rewrite.isList(request) ? Rewrite.parameters(request).get("status") : null
        return status === null || status === "" || PetStatus.is(status)
          ? real(request)
          : Rewrite.lists(() => [])(real)(Rewrite.withParameter(request, "status", "sold"))
      }
    }
  },
  {
    id: "list.empty-status-lists-all",
    does: "Reads an empty status as none.",
    breaks: "list.status.unknown",
    killedBy: "list.status.unknown",
    words: "400 invalid_parameter to ?status= 200",
    where: { at: "http", transport: statusRead((status) => (status === "" ? null : undefined)) }
  },
  {
    id: "list.status-any-case",
    does: "Reads a status in any case.",
    breaks: "list.status.exact",
    killedBy: "list.status.unknown",
    words: "?status=SOLD 200",
    where: {
      at: "http",
      transport: statusRead((status) => PetStatus.all.find((one) => one === status.toLowerCase()))
    }
  },
  {
    id: "list.status-trimmed",
    does: "Reads a status with blanks around it.",
    breaks: "list.status.exact",
    killedBy: "list.status.unknown",
    words: "?status=sold%20 200",
    where: {
      at: "http",
      transport: statusRead((status) => PetStatus.all.find((one) => one === status.trim()))
    }
  },
  {
    id: "list.status-repeated",
    does: "Reads the first of several statuses.",
    breaks: "list.status.repeated",
    killedBy: "list.status.repeated",
    words: "status=sold&status=sold 200",
    where: { at: "http", transport: statusRead((status) => PetStatus.all.find((one) => one === status)) }
  },

  // What a list looks like
  {
    id: "list.empty-404",
    does: "Answers 404 where no animal belongs to the list.",
    breaks: "list.empty",
    killedBy: "list.answered",
    words: "200 with an array of Pet 404",
    where: {
      at: "http",
      transport: Rewrite.answers((response, request) =>
        Rewrite.isList(request) && Rewrite.animalsOf(response)?.length === 0
          ? Rewrite.withStatus(response, 404)
          : response
      )
    }
  },
  {
    id: "list.empty-null",
    does: "Answers null where no animal belongs to the list.",
    breaks: "list.empty",
    killedBy: "list.answered",
    words: "no bare array: null",
    where: { at: "http", transport: lists((animals) => (animals.length === 0 ? null : animals)) }
  },
  {
    id: "list.empty-204",
    does: "Answers 204 without a body where no animal belongs to the list.",
    breaks: "list.empty",
    killedBy: "list.answered",
    words: "200 with an array of Pet 204",
    where: {
      at: "http",
      transport: Rewrite.answers((response, request) =>
        Rewrite.isList(request) && Rewrite.animalsOf(response)?.length === 0
          ? Rewrite.withBody(Rewrite.withStatus(response, 204), "")
          : response
      )
    }
  },
  {
    id: "list.wrapped",
    does: "Answers with an object around the array.",
    breaks: "list.array",
    killedBy: "list.answered",
    words: 'no bare array: {"pets":[',
    where: { at: "http", transport: lists((animals) => ({ pets: animals, total: animals.length })) }
  },
  {
    id: "list.single-unwrapped",
    does: "Answers with the animal itself where it is the only one.",
    breaks: "list.array",
    killedBy: "list.limit.accepted",
    words: 'no bare array: {"id":',
    where: { at: "http", transport: lists((animals) => (animals.length === 1 ? animals[0] : animals)) }
  },
  {
    id: "list.omits-category",
    does: "Lists animals without their category.",
    breaks: "list.faithful",
    killedBy: "catalogue.faithful",
    words: "categoryId is no int64: absent",
    where: {
      at: "http",
      transport: lists((animals) => animals.map(({ id, name, status }) => ({ id, name, status })))
    }
  },
  {
    id: "list.partial-206",
    does: "Answers a list that more animals follow with 206.",
    breaks: "list.status-200",
    killedBy: "list.limit.accepted",
    words: "200 with a bare array of animals to /v1/pets?limit=1 206",
    where: {
      at: "http",
      transport: Rewrite.answers((response, request) =>
        Rewrite.isList(request) && response.headers.some(([name]) => name.toLowerCase() === "link")
          ? Rewrite.withStatus(response, 206)
          : response
      )
    }
  },
  {
    id: "list.digits-lost",
    does: "Writes numbers through doubles, so that large categories lose digits.",
    breaks: "create.int64-exact",
    killedBy: "catalogue.category-exact",
    words: "categoryId 4611686018427387904",
    where: {
      at: "http",
      transport: lists((animals) =>
        animals.map((animal) => ({
          ...animal,
          categoryId: BigInt(Math.min(Number(animal.categoryId), 2 ** 62))
        }))
      )
    }
  },
  {
    id: "list.duplicates",
    does: "Lists the first animal twice where there is room.",
    breaks: "list.distinct",
    killedBy: "list.distinct",
    words: "in a list twice {id",
    where: { at: "port", pets: paged((pets, { limit }) => [...pets.slice(0, 1), ...pets].slice(0, limit)) }
  },
  {
    id: "list.joined-rows",
    does: "Lists each animal once for every animal of its category, as a careless join does.",
    breaks: "list.distinct",
    killedBy: "list.distinct",
    words: "in a list twice {id",
    where: {
      at: "http",
      pets: paged((pets, { limit }) =>
        pets
          .flatMap((pet) => pets.filter(({ categoryId }) => categoryId === pet.categoryId).map(() => pet))
          .slice(0, limit)
      )
    }
  },
  {
    id: "list.invents",
    does: "Lists a specimen that nobody created where there is room.",
    breaks: "list.faithful",
    killedBy: "catalogue.model",
    words: 'name "Specimen"',
    where: {
      at: "port",
      pets: paged((pets, { limit, status = "sold" }) =>
        pets.length < limit ? [...pets, new Pet(9_999n, { name: "Specimen", categoryId: 1n, status })] : pets
      )
    }
  },
  {
    id: "list.positions-for-ids",
    does: "Lists animals under their position instead of their id.",
    breaks: "list.faithful",
    killedBy: "catalogue.model",
    words: "under its id 1 {id 100",
    where: { at: "port", pets: paged((pets) => pets.map((pet, index) => new Pet(BigInt(index + 100), pet))) }
  },
  {
    id: "list.names-shifted",
    does: "Lists each animal with the name of the one before it.",
    breaks: "list.faithful",
    killedBy: "catalogue.model",
    words: "a list to show the animal",
    where: {
      at: "port",
      pets: paged((pets) =>
        pets.map((pet, index) => new Pet(pet.id, { ...pet, name: pets[index - 1]?.name ?? pet.name }))
      )
    }
  },
  {
    id: "list.stale-status",
    does: "Shows every animal as available in lists without a filter.",
    breaks: "resources.status-stable",
    killedBy: "catalogue.status-kept",
    words: "to show it as pending available",
    where: {
      at: "http",
      transport: Rewrite.lists((animals, request) =>
        Rewrite.parameters(request).has("status")
          ? animals
          : animals.map((animal) => ({ ...animal, status: "available" }))
      )
    }
  },
  {
    id: "list.status-left-out",
    does: "Finds animals by their id as available, whatever they are.",
    breaks: "resources.status-stable",
    killedBy: "catalogue.status-kept",
    words: "to show it as pending available",
    where: {
      at: "port",
      pets: found(Option.map((pet) => new Pet(pet.id, { ...pet, status: "available" })))
    }
  },

  // Which order
  {
    id: "list.newest-first",
    does: "Lists the newest animal first.",
    breaks: "list.order",
    killedBy: "list.order",
    words: "ascending id ids 3, 2, 1",
    where: { at: "port", pets: paged((pets) => pets.toReversed()) }
  },
  {
    id: "list.unstable-order",
    does: "Lists animals in another order each time.",
    breaks: "list.order",
    killedBy: "list.order",
    words: "by ascending id ids",
    where: {
      at: "http",
      transport: (real) => {
        let turn = 0
        return Rewrite.lists((animals) => {
          const at = turn++ % Math.max(animals.length, 1)
          return [...animals.slice(at), ...animals.slice(0, at)]
        })(real)
      }
    }
  },
  {
    id: "list.ids-as-text",
    does: "Sorts ids as text, so that 10 comes before 9.",
    breaks: "list.order",
    killedBy: "list.order",
    words: "ascending id ids 1, 10, 2",
    where: {
      at: "port",
      pets: paged((pets) => pets.toSorted((one, other) => (`${one.id}` < `${other.id}` ? -1 : 1)))
    }
  },

  // Pages
  {
    id: "paging.none",
    does: "Links to no further page.",
    breaks: "list.paging",
    killedBy: "list.paging.walk",
    words: "some page none with {id",
    where: { at: "http", transport: paging({ isLinked: () => false }) }
  },
  {
    id: "paging.skips-one",
    does: "Leaves out one animal between two pages.",
    breaks: "list.paging.complete",
    killedBy: "list.paging.walk",
    words: "some page none with {id",
    where: { at: "http", transport: paging({ follows: (id, after) => id > after + 1n }) }
  },
  {
    id: "paging.repeats-one",
    does: "Begins a page with the last animal of the page before.",
    breaks: "list.paging.complete",
    killedBy: "list.paging.walk",
    words: "one page only twice {id",
    where: { at: "http", transport: paging({ follows: (id, after) => id >= after }) }
  },
  {
    id: "paging.filter-forgotten",
    does: "Forgets the filter from the second page on.",
    breaks: "list.paging.filter",
    killedBy: "list.paging.walk",
    words: "on every page {id",
    where: { at: "http", transport: paging({ filter: () => null }) }
  },
  {
    id: "paging.limit-forgotten",
    does: "Leaves the limit out of the next link.",
    breaks: "list.paging.filter",
    killedBy: "list.paging.walk",
    words: "2 animals one of",
    where: { at: "http", transport: paging({ keeps: (parameters) => parameters.delete("limit") }) }
  },
  {
    id: "paging.cursor-unbound",
    does: "Accepts a cursor with another filter than its own.",
    breaks: "list.paging.bound",
    killedBy: "list.paging.bound",
    words: "400 invalid_parameter to ?limit=1&cursor=",
    where: { at: "http", transport: paging({ isUnbound: true }) }
  },
  {
    id: "paging.cursor-readable",
    does: "Takes any number for a cursor.",
    breaks: "list.paging.forged",
    killedBy: "list.paging.forged",
    words: "400 invalid_parameter to ?cursor=0 200",
    where: {
      at: "http",
      transport: paging({ forged: (cursor) => (/^[0-9]+$/.test(cursor) ? BigInt(cursor) : undefined) })
    }
  },
  {
    id: "paging.cursor-unsealed",
    does: "Accepts a cursor that was altered, as long as it has the right form.",
    breaks: "list.paging.forged",
    killedBy: "list.paging.forged",
    words: "400 invalid_parameter to ?limit=1&cursor=0.1 200",
    where: {
      at: "http",
      transport: paging({ forged: (cursor) => (/^[0-9]+\.[0-9]+$/.test(cursor) ? 1n : undefined) })
    }
  },
  {
    id: "paging.unknown-cursor-first-page",
    does: "Answers a cursor that it does not know with the first page.",
    breaks: "list.paging.forged",
    killedBy: "list.paging.forged",
    words: "400 invalid_parameter to ?cursor= 200",
    where: { at: "http", transport: paging({ forged: () => -1n }) }
  },
  {
    id: "paging.link-when-full",
    does: "Links to a next page whenever a page is full, though nothing comes after it.",
    breaks: "list.paging.last",
    killedBy: "list.paging.last",
    words: "comes after Link: <",
    where: { at: "http", transport: paging({ isLinked: (_, listed, limit) => listed.length === limit }) }
  },
  {
    id: "paging.link-to-one-more-missing",
    does: "Does not link to a page of a single animal.",
    breaks: "list.paging",
    killedBy: "list.paging.last",
    words: "one more animal comes Link: absent",
    where: { at: "http", transport: paging({ isLinked: (more) => more > 1 }) }
  },
  {
    id: "paging.link-to-elsewhere",
    does: "Links to the next page below a path of its own network.",
    breaks: "list.paging.address",
    killedBy: "list.paging.address",
    words: "<backend.internal:8080",
    where: { at: "http", transport: paging({ address: (path) => `backend.internal:8080${path}` }) }
  },

  // What is kept
  {
    id: "catalogue.not-listed",
    does: "Never lists animals created as pending.",
    breaks: "list.sees-created",
    killedBy: "list.filter",
    words: "0 animals, without {id",
    where: { at: "port", pets: paged((pets) => pets.filter(({ status }) => status !== "pending")) }
  },
  {
    id: "catalogue.lost-after-fifty",
    does: "Keeps the first 50 animals only.",
    breaks: "resources.stable",
    killedBy: "catalogue.kept",
    words: "50 animals, without {id",
    where: {
      at: "port",
      pets: (real) => {
        const isKept = ({ id }: Pet) => id <= 50n
        return {
          ...real,
          find: (id) => Effect.map(real.find(id), Option.filter(isKept)),
          page: (query) => Effect.map(real.page(query), (pets) => pets.filter(isKept))
        }
      }
    }
  },
  {
    id: "catalogue.evicted",
    does: "Forgets the oldest animals once 100 newer ones came.",
    breaks: "resources.stable",
    killedBy: "catalogue.kept",
    words: "since it was created none",
    where: {
      at: "port",
      pets: (real) => {
        let newest = 0n
        return {
          ...real,
          insert: (pet) => Effect.tap(real.insert(pet), ({ id }) => Effect.sync(() => (newest = id))),
          find: (id) =>
            Effect.map(
              real.find(id),
              Option.filter((pet) => pet.id > newest - 100n)
            )
        }
      }
    }
  },
  {
    id: "catalogue.stores-nothing",
    does: "Answers a creation with what came in and stores nothing.",
    breaks: "get.found",
    killedBy: "catalogue.model",
    words: "0 animals, without {id",
    where: {
      at: "port",
      pets: (real) => {
        let id = 0n
        return { ...real, insert: (pet) => Effect.sync(() => new Pet(++id, pet)) }
      }
    }
  },
  {
    id: "catalogue.overwrites",
    does: "Keeps the newest animal only.",
    breaks: "resources.stable",
    killedBy: "catalogue.kept",
    words: "1 animals, without",
    where: {
      at: "http",
      pets: (real) => {
        const isLast = (pet: Pet) =>
          Effect.map(real.page({ ...everything, after: pet.id }), (later) => later.length === 0)
        return {
          ...real,
          page: (query) => Effect.flatMap(real.page(query), Effect.filter(isLast))
        }
      }
    }
  },
  {
    id: "catalogue.reuses-id",
    does: "Gives every third animal the id of the one before.",
    breaks: "resources.id-unique",
    killedBy: "catalogue.ids-unique",
    words: ', the id of "',
    where: {
      at: "port",
      pets: (real) => ({
        ...real,
        insert: (pet) =>
          Effect.map(real.insert(pet), (stored) =>
            stored.id % 3n === 0n ? new Pet(stored.id - 1n, pet) : stored
          )
      })
    }
  },
  {
    id: "catalogue.constant-id",
    does: "Answers every creation with id 1.",
    breaks: "resources.id-unique",
    killedBy: "catalogue.ids-unique",
    words: ', the id of "',
    where: {
      at: "http",
      transport: Rewrite.answers((response, request) =>
        Rewrite.isCreation(request) && response.status === 201
          ? Rewrite.withJson(response, (pet) => ({ ...Object(pet), id: 1n }))
          : response
      )
    }
  },
  {
    id: "catalogue.anything-found",
    does: "Finds an animal under every id.",
    breaks: "get.not-found",
    killedBy: "catalogue.unknown-id",
    words: 'name "Nobody"',
    where: {
      at: "port",
      pets: found((pet, id) =>
        pet.pipe(Option.orElseSome(() => new Pet(id, { name: "Nobody", categoryId: 1n, status: "sold" })))
      )
    }
  },
  {
    id: "catalogue.anything-found-http",
    does: "Answers an unknown id with an animal made up for it.",
    breaks: "get.not-found",
    killedBy: "catalogue.unknown-id",
    words: ', name "", categoryId 0}',
    where: {
      at: "http",
      transport: Rewrite.answers((response, request) => {
        const id = request.target.split("/").at(-1) ?? ""
        return Rewrite.isGet(request) && response.status === 404 && /^-?[0-9]+$/.test(id)
          ? Rewrite.withBody(Rewrite.withStatus(response, 200), `{"id":${id},"name":"","categoryId":0}`)
          : response
      })
    }
  },
  {
    id: "catalogue.nearest-found",
    does: "Finds the animal with the nearest id, as a seek without a second look does.",
    breaks: "get.not-found",
    killedBy: "catalogue.unknown-id",
    words: "no animal with id 0 {id 1",
    where: {
      at: "port",
      pets: (real) => ({
        insert: real.insert,
        page: real.page,
        find: (id) =>
          Effect.map(real.page({ ...everything, limit: 1, after: id - 1n }), ([pet]) =>
            Option.fromUndefinedOr(pet)
          )
      })
    }
  },
  {
    id: "catalogue.category-32-bits",
    does: "Keeps the lowest 32 bits of a category.",
    breaks: "create.int64-exact",
    killedBy: "catalogue.category-exact",
    words: "categoryId -1, pending",
    where: {
      at: "port",
      pets: inserting((pet) => ({ ...pet, categoryId: BigInt.asIntN(32, pet.categoryId) }))
    }
  },
  {
    id: "catalogue.category-doubles",
    does: "Keeps categories as doubles.",
    breaks: "create.int64-exact",
    killedBy: "catalogue.category-exact",
    words: "categoryId -9223372036854775808, pending",
    where: {
      at: "http",
      pets: inserting((pet) => ({ ...pet, categoryId: BigInt.asIntN(64, BigInt(Number(pet.categoryId))) }))
    }
  },
  {
    id: "catalogue.name-trimmed",
    does: "Stores names without the blanks around them.",
    breaks: "create.name-exact",
    killedBy: "catalogue.name-exact",
    words: '"categoryId":1} {id',
    where: { at: "port", pets: inserting((pet) => ({ ...pet, name: pet.name.trim() })) }
  },
  {
    id: "catalogue.name-normalised",
    does: "Stores names in Unicode's composed form.",
    breaks: "create.name-exact",
    killedBy: "catalogue.name-exact",
    words: "to show the animal as it was created",
    where: { at: "http", pets: inserting((pet) => ({ ...pet, name: pet.name.normalize("NFC") })) }
  },
  {
    id: "catalogue.name-basic-plane",
    does: "Stores a question mark for each character beyond the first 65 536.",
    breaks: "create.name-characters",
    killedBy: "catalogue.name-exact",
    words: '?", categoryId 1, available',
    where: {
      at: "port",
      pets: inserting((pet) => ({ ...pet, name: pet.name.replaceAll(/[\u{10000}-\u{10ffff}]/gu, "?") }))
    }
  },
  {
    id: "catalogue.name-cut",
    does: "Cuts names after 100 characters.",
    breaks: "create.name-exact",
    killedBy: "catalogue.name-exact",
    words: "💩\\ud83d",
    where: { at: "port", pets: inserting((pet) => ({ ...pet, name: pet.name.slice(0, 100) })) }
  },
  {
    id: "catalogue.name-decoded",
    does: "Stores names percent-decoded.",
    breaks: "create.name-exact",
    killedBy: "catalogue.name-exact",
    words: "to show the animal as it was created",
    where: { at: "http", pets: inserting((pet) => ({ ...pet, name: pet.name.replaceAll("%41", "A") })) }
  },
  {
    id: "catalogue.name-normalised-in-filter",
    does: "Shows names in Unicode's composed form in lists with a status.",
    breaks: "create.name-exact",
    killedBy: "catalogue.name-exact",
    words: "a list to show the animal as it was created",
    where: { at: "http", transport: namedInFilter((name) => name.normalize("NFC")) }
  },
  {
    id: "catalogue.name-trimmed-in-filter",
    does: "Shows names without the blanks behind them in lists with a status.",
    breaks: "list.faithful",
    killedBy: "catalogue.name-consistent",
    words: "a list with a status to show the name that its creation answered",
    where: { at: "http", transport: namedInFilter((name) => name.trimEnd()) }
  },
  {
    id: "catalogue.name-quoted-in-filter",
    does: "Shows names with doubled quotes in lists with a status.",
    breaks: "list.faithful",
    killedBy: "catalogue.name-consistent",
    words: "a list with a status to show the name that its creation answered",
    where: { at: "http", transport: namedInFilter((name) => name.replaceAll("'", "''")) }
  },
  {
    id: "catalogue.name-decoded-in-filter",
    does: "Shows names percent-decoded in lists with a status.",
    breaks: "list.faithful",
    killedBy: "catalogue.name-consistent",
    words: "a list with a status to show the name that its creation answered",
    where: { at: "http", transport: namedInFilter((name) => name.replaceAll("%41", "A")) }
  },
  {
    id: "catalogue.name-cut-in-filter",
    does: "Shows the first 50 characters of a name in lists with a status.",
    breaks: "list.faithful",
    killedBy: "catalogue.name-consistent",
    words: "a list with a status to show the name that its creation answered",
    where: { at: "http", transport: namedInFilter((name) => name.slice(0, 50)) }
  },
  {
    id: "catalogue.name-cut-in-lists",
    does: "Shows the first 50 characters of a name in lists.",
    breaks: "list.faithful",
    killedBy: "catalogue.name-consistent",
    words: "a list without status to show the name that its creation answered",
    where: {
      at: "port",
      pets: paged((pets) => pets.map((pet) => new Pet(pet.id, { ...pet, name: pet.name.slice(0, 50) })))
    }
  },
  {
    id: "catalogue.name-cut-by-id",
    does: "Shows the first 50 characters of a name under its id.",
    breaks: "get.faithful",
    killedBy: "catalogue.name-consistent",
    words: "its id to show the name that its creation answered",
    where: {
      at: "http",
      pets: found(Option.map((pet) => new Pet(pet.id, { ...pet, name: pet.name.slice(0, 50) })))
    }
  },
  {
    id: "catalogue.status-answered-otherwise",
    does: "Answers every creation as available.",
    breaks: "create.status-kept",
    killedBy: "catalogue.faithful",
    words: "to be answered so {id",
    where: {
      at: "http",
      transport: Rewrite.answers((response, request) =>
        Rewrite.isCreation(request) && response.status === 201
          ? Rewrite.withJson(response, (pet) => ({ ...Object(pet), status: "available" }))
          : response
      )
    }
  },
  {
    id: "list.queue",
    does: "Lists each animal once and then never again.",
    breaks: "list.complete",
    killedBy: "list.pure",
    words: "one without {id",
    where: {
      at: "port",
      pets: (real) => {
        const seen = new Set<bigint>()
        const isNew = ({ id }: Pet) => {
          const isFirst = !seen.has(id)
          seen.add(id)
          return isFirst
        }
        return { ...real, page: (query) => Effect.map(real.page(query), (pets) => pets.filter(isNew)) }
      }
    }
  },
  {
    id: "list.first-page-cached",
    does: "Answers a list as it answered it the first time.",
    breaks: "list.sees-created",
    killedBy: "list.complete",
    words: "animals, without {id",
    where: {
      at: "port",
      pets: (real) => {
        const kept = new Map<string, ReadonlyArray<Pet>>()
        return {
          ...real,
          page: (query) =>
            Effect.map(real.page(query), (pets) => {
              const key = `${query.status}/${query.limit}`
              if (!kept.has(key)) kept.set(key, pets)
              return kept.get(key) ?? pets
            })
        }
      }
    }
  },
  {
    id: "list.seen-late",
    does: "Shows an animal in lists only from the second list after its creation on.",
    breaks: "list.sees-created",
    killedBy: "list.complete",
    words: "animals, without {id",
    where: {
      at: "http",
      pets: (real) => {
        let visible = 0n
        return {
          ...real,
          page: (query) =>
            Effect.map(real.page(query), (pets) => {
              const shown = pets.filter(({ id }) => id <= visible)
              visible = pets.reduce((most, { id }) => (id > most ? id : most), visible)
              return shown
            })
        }
      }
    }
  }
]
