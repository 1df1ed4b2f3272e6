type NumberArray = Uint8Array | Uint32Array | Float64Array

/** A growing column of numbers in a typed array: a million rows cost bytes, not objects. */
export class NumberColumn {
  #make: (size: number) => NumberArray
  #data: NumberArray
  #size = 0

  constructor(make: (size: number) => NumberArray) {
    this.#make = make
    this.#data = make(16)
  }

  static u8(): NumberColumn {
    return new NumberColumn((size) => new Uint8Array(size))
  }

  static u32(): NumberColumn {
    return new NumberColumn((size) => new Uint32Array(size))
  }

  static f64(): NumberColumn {
    return new NumberColumn((size) => new Float64Array(size))
  }

  get size(): number {
    return this.#size
  }

  push(value: number): void {
    if (this.#size === this.#data.length) {
      const grown = this.#make(this.#size * 2)
      grown.set(this.#data)
      this.#data = grown
    }
    this.#data[this.#size++] = value
  }

  at(index: number): number {
    const value = this.#data[index]
    if (value === undefined || index >= this.#size) throw new RangeError(`no row ${index} of ${this.#size}`)
    return value
  }

  set(index: number, value: number): void {
    if (index >= this.#size) throw new RangeError(`no row ${index} of ${this.#size}`)
    this.#data[index] = value
  }
}

/** A growing column of amounts in minor units, each a signed 64-bit integer. */
export class AmountColumn {
  #data = new BigInt64Array(16)
  #size = 0

  get size(): number {
    return this.#size
  }

  #checked(value: bigint): bigint {
    // A BigInt64Array wraps silently: an amount that does not fit must never become another amount.
    if (BigInt.asIntN(64, value) !== value) throw new RangeError(`${value} does not fit into 64 bits`)
    return value
  }

  push(value: bigint): void {
    if (this.#size === this.#data.length) {
      const grown = new BigInt64Array(this.#size * 2)
      grown.set(this.#data)
      this.#data = grown
    }
    this.#data[this.#size++] = this.#checked(value)
  }

  at(index: number): bigint {
    const value = this.#data[index]
    if (value === undefined || index >= this.#size) throw new RangeError(`no row ${index} of ${this.#size}`)
    return value
  }

  set(index: number, value: bigint): void {
    if (index >= this.#size) throw new RangeError(`no row ${index} of ${this.#size}`)
    this.#data[index] = this.#checked(value)
  }
}

/** A growing set of row numbers, a bit each. */
export class RowSet {
  #data = new Uint8Array(0)

  add(row: number): void {
    const place = row >>> 3
    if (place >= this.#data.length) {
      const grown = new Uint8Array(Math.max(16, place * 2))
      grown.set(this.#data)
      this.#data = grown
    }
    this.#data[place] = (this.#data[place] ?? 0) | (1 << (row & 7))
  }

  has(row: number): boolean {
    return ((this.#data[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0
  }
}
