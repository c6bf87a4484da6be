/** Encodes animals and errors as responses. */
import type { Header } from "../../http/Wire.ts"
import type { Pet } from "./Animals.ts"
import type { Choices, Fields } from "./Choices.ts"

/** A response without the headers that all responses have. */
export interface Reply {
  readonly status: number
  readonly headers: ReadonlyArray<Header>
  readonly json?: string
}

/** The code of each status, and its message in English and German. */
const errors = {
  400: ["invalid_request", "The request has invalid values.", "Die Anfrage enthält ungültige Werte."],
  401: ["unauthorized", "The API key is missing or invalid.", "Der API-Schlüssel fehlt oder ist ungültig."],
  403: ["banned", "The API key is banned for a while.", "Der API-Schlüssel ist vorübergehend gesperrt."],
  404: ["not_found", "There is no such resource.", "Diese Ressource gibt es nicht."],
  405: ["method_not_allowed", "The method is not allowed here.", "Diese Methode ist hier nicht erlaubt."],
  411: ["length_required", "A Content-Length is required.", "Content-Length fehlt."],
  501: ["not_implemented", "The method is unknown.", "Diese Methode ist unbekannt."],
  410: ["gone", "The operation was removed.", "Diese Operation wurde entfernt."],
  413: ["too_large", "The body is too large.", "Der Anfragekörper ist zu groß."],
  415: ["unsupported_type", "Only application/json is read.", "Nur application/json wird gelesen."],
  422: ["unprocessable", "A parameter is out of range.", "Ein Parameter liegt außerhalb des Bereichs."],
  429: ["rate_limited", "Too many requests.", "Zu viele Anfragen."]
} as const

export type ErrorStatus = keyof typeof errors

/** Creates the encoder of responses for a server with these choices. */
export const make = (choices: Choices) => {
  const quote = (text: string): string => {
    const json = JSON.stringify(text)
    if (!choices.json.escaped) return json
    return json.replace(
      /[\u007f-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
    )
  }
  const between = (open: string, items: ReadonlyArray<string>, close: string): string => {
    const { space } = choices.json
    return [open, items.join(`${space},${space}`), close].join(space)
  }
  const object = (fields: Fields): string => {
    const { reversed, space } = choices.json
    const members = Object.entries(fields).map(
      ([name, value]) => `${quote(name)}:${space}${typeof value === "string" ? quote(value) : value}`
    )
    return between("{", reversed ? members.reverse() : members, "}")
  }
  const petJson = ({ categoryId, id, name, status }: Pet): string =>
    object({ id, name, categoryId, ...(status === undefined ? {} : { status }), ...choices.petExtras })
  const success = (status: 200 | 201, json: string, headers: ReadonlyArray<Header> = []): Reply => ({
    status,
    headers: [["Content-Type", choices.contentType], ...headers],
    json
  })
  return {
    pet: (status: 200 | 201, pet: Pet): Reply => success(status, petJson(pet)),
    pets: (pets: ReadonlyArray<Pet>, headers?: ReadonlyArray<Header>): Reply =>
      success(200, between("[", pets.map(petJson), "]"), headers),
    error: (status: ErrorStatus, headers: ReadonlyArray<Header> = []): Reply => {
      const [word, english, german] = errors[status]
      const code = { words: word, UPPER: word.toUpperCase(), numbered: `E${status}` }[choices.codes]
      const message = choices.language === "en" ? english : german
      return {
        status,
        headers: [["Content-Type", choices.errorContentType], ...headers],
        json: object({ code, message, status, ...choices.errorExtras })
      }
    }
  }
}
