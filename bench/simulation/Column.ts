/** A growing array of numbers in one buffer; a million small objects would make garbage collection slow. */
export class Column {
  #values = new Float64Array(1_024)
  #length = 0

  get length(): number {
    return this.#length
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(2 * this.#length)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#length++] = value
  }

  /** Returns the value at an index; throws if the index does not exist. */
  at(index: number): number {
    const value = index < this.#length ? this.#values[index] : undefined
    if (value === undefined) throw new Error(`a column of ${this.#length} has no index ${index}`)
    return value
  }

  set(index: number, value: number): void {
    this.#values[index] = value
  }
}
