import type { ServiceOptions } from "./ServiceOptions.ts"
export const json = (_options: ServiceOptions): string => "{}"
