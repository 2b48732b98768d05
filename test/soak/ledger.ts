/** What a client may conclude from the response to a request that writes. */
export type Outcome = 'kept' | 'refused' | 'unknown'

interface Count {
  kept: number
  unknown: number
}

/** What clients were told, to be compared with the rows. */
export class Ledger {
  readonly #entries = new Map<string, Outcome>()
  /** Names that are inserted by one request: all of them are there, or none. */
  readonly #together: (readonly string[])[] = []
  readonly #counters = new Map<number, Count>()
  readonly #callbacks: Count = { kept: 0, unknown: 0 }

  inserted(names: readonly string[], outcome: Outcome): void {
    for (const name of names) this.#entries.set(name, outcome)
    if (names.length > 1) this.#together.push(names)
  }

  /** A request to delete an entry that was acknowledged. */
  deleted(name: string, outcome: Outcome): void {
    if (outcome === 'kept') this.#entries.set(name, 'refused')
    else if (outcome === 'unknown') this.#entries.set(name, 'unknown')
  }

  incremented(id: number, outcome: Outcome): void {
    const count = this.#counters.get(id) ?? { kept: 0, unknown: 0 }
    this.#counters.set(id, count)
    if (outcome !== 'refused') count[outcome]++
  }

  /** A request with an `afterCommit` callback. */
  calledBack(outcome: Outcome): void {
    if (outcome !== 'refused') this.#callbacks[outcome]++
  }

  count(outcome: Outcome): number {
    return [...this.#entries.values()].filter((other) => other === outcome).length
  }

  /** What is wrong with the rows: nothing, or a sentence for each. */
  compare(names: ReadonlySet<string>, counters: ReadonlyMap<number, number>, delivered: number): string[] {
    return [
      ...this.#wrongEntries(names),
      ...this.#torn(names),
      ...[...this.#counters].flatMap(([id, count]) => outside(`counter ${id}`, counters.get(id) ?? 0, count)),
      ...outside('afterCommit', delivered, this.#callbacks),
    ]
  }

  *#wrongEntries(names: ReadonlySet<string>): Iterable<string> {
    for (const [name, outcome] of this.#entries) {
      if (outcome === 'kept' && !names.has(name)) yield `${name} was acknowledged and is not there`
      if (outcome === 'refused' && names.has(name)) yield `${name} was refused or deleted and is there`
    }
    for (const name of names) if (!this.#entries.has(name)) yield `${name} is there, and no client has sent it`
  }

  *#torn(names: ReadonlySet<string>): Iterable<string> {
    for (const group of this.#together)
      if (new Set(group.map((name) => names.has(name))).size > 1) yield `only a part of ${group.join(', ')} is there`
  }
}

function outside(what: string, found: number, { kept, unknown }: Count): string[] {
  if (found >= kept && found <= kept + unknown) return []
  return [`${what} is ${found}: ${kept} were acknowledged, and of ${unknown} the outcome is unknown`]
}
