/** Creates time series: one metric for each combination of attribute values. */

/** The value of an attribute; `undefined` if the series does not have it. */
export type Value = string | number | undefined

/** Attributes by name. */
export type Attributes = { readonly [name: string]: string }

interface Branch<Metric> {
  readonly byValue: Map<Value, Branch<Metric>>
  metric: Metric | undefined
}

/**
 * Returns a function from attribute values, in the order of `names`, to their metric. Each metric is created once,
 * because creating a metric costs more than updating it.
 */
export const make = <const Names extends ReadonlyArray<string>, Metric>(
  names: Names,
  create: (attributes: Attributes) => Metric
): ((...values: { readonly [index in keyof Names]: Value }) => Metric) => {
  const root: Branch<Metric> = branch()
  return (...values) => {
    let node = root
    for (const value of values) {
      let next = node.byValue.get(value)
      if (next === undefined) {
        next = branch()
        node.byValue.set(value, next)
      }
      node = next
    }
    node.metric ??= create(attributesOf(names, values))
    return node.metric
  }
}

const branch = <Metric>(): Branch<Metric> => ({ byValue: new Map(), metric: undefined })

const attributesOf = (names: ReadonlyArray<string>, values: ReadonlyArray<Value>): Attributes => {
  const attributes: { [name: string]: string } = {}
  for (const [index, name] of names.entries()) {
    const value = values[index]
    if (value !== undefined) attributes[name] = String(value)
  }
  return attributes
}
