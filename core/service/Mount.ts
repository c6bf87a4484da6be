/** Determines where a host has mounted the service, so that it finds its paths and sends correct URLs. */

const isBelow = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`)

/**
 * Returns the beginning of a path that belongs to the host and precedes the base path, such as `/animals`. `mountPath` is
 * the path that the host has removed, with or without the base path at its end.
 *
 * @example
 * ```ts
 * prefixOf("/v1", "/v1/pets", "/v1") // ""
 * prefixOf("/v1", "/animals/v1/pets", "/animals") // "/animals"
 * prefixOf("/v1", "/animals/v1/pets", "/animals/v1") // "/animals"
 * prefixOf("", "/animals/pets", "/animals") // "/animals"
 * ```
 */
export const prefixOf = (basePath: string, path: string, mountPath = ""): string => {
  if (mountPath === "" || !isBelow(path, mountPath)) return ""
  if (basePath === "") return mountPath
  if (isBelow(path, basePath) || isBelow(basePath, mountPath)) return ""
  return mountPath.endsWith(basePath) ? mountPath.slice(0, -basePath.length) : mountPath
}

/**
 * Returns the path of a health check or a file, which are beside the base path: below `/animals/v1`, `/animals/livez` is
 * `/livez`. Other paths are unchanged.
 */
export const pathBeside = (basePath: string, path: string): string => {
  const directory = basePath.slice(0, Math.max(basePath.lastIndexOf("/"), 0))
  const isBeside = directory !== "" && isBelow(path, directory) && !isBelow(path, basePath)
  return isBeside ? path.slice(directory.length) : path
}

/** Encodes the bytes of a prefix that a URL in a header such as `Link`, or in JSON, cannot contain. */
export const encode = (prefix: string): string =>
  // Hosts return targets with one character for each byte; others are omitted.
  prefix.replaceAll(/[^!#-;=?-[\]-~]/g, (byte) => {
    const code = byte.charCodeAt(0)
    return code < 0x100 ? `%${code.toString(16).toUpperCase().padStart(2, "0")}` : ""
  })
