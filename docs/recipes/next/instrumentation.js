export const register = async () => {
  if (process.env.NEXT_RUNTIME !== "nodejs") return
  const { openedStore } = await import("./store.mjs")
  const { key } = await (await openedStore()).keys.issue({ plan: "Free" })
  const port = process.env.PORT ?? 3000
  console.log(`curl -H 'Authorization: Bearer ${key}' http://127.0.0.1:${port}/v1/pets`)
}
