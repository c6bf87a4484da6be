/** Writes to standard error what a run does, with the time since its start. */
export const report = (text: string): void => {
  const seconds = Math.round(performance.now() / 1000)
  console.error(`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} ${text}`)
}
