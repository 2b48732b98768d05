import { random } from '../../support/fuzz.js'

/*
 * What the handler of a number does: the same in each process, so that the numbers that were committed tell which events there must be.
 */

export const TOPICS = ['red', 'green', 'blue', 'amber', 'topics may have spaces, ümlauts and 🦸'] as const

/** How a handler ends: it is committed, it throws, it rolls its session back and answers, or the savepoint around all of it is rolled back. */
export type End = 'commit' | 'throw' | 'rollback' | 'undone'

export type Isolation = 'read committed' | 'repeatable read' | 'serializable'

/** An event that is published. */
export interface Planned {
  readonly topic: string
  /** Of the events of a handler, from 0. */
  readonly index: number
  /** Where it is published. */
  readonly within: 'handler' | 'savepoint' | 'savepoint in a savepoint' | 'savepoint that is rolled back'
  /** Whether it has no place in its topic. */
  readonly isLoose: boolean
}

export interface Plan {
  readonly end: End
  readonly isolation: Isolation
  readonly events: readonly Planned[]
  /** The rows that it changes, in this order: those of another handler, too, so that there are conflicts. */
  readonly counters: readonly number[]
}

/** How many rows there are that handlers change. */
export const COUNTERS = 6
const ENDS: readonly End[] = ['throw', 'rollback', 'undone']
const ISOLATIONS: readonly Isolation[] = ['read committed', 'read committed', 'repeatable read', 'serializable']
const PLACES: readonly Planned['within'][] = [
  'handler',
  'handler',
  'handler',
  'savepoint',
  'savepoint in a savepoint',
  'savepoint that is rolled back',
]

export function planOf(number: number): Plan {
  const below = random(number * 7_919 + 17)
  for (let n = 0; n < 5; n++) below(2) // seeds that are near begin alike
  const any = <T>(values: readonly T[]): T => values[below(values.length)] as T // never empty
  const end = below(8) === 0 ? any(ENDS) : 'commit'
  const count = below(20) === 0 ? 20 : 1 + below(4)
  const events = Array.from({ length: count }, (_, index): Planned => ({
    topic: any(TOPICS),
    index,
    within: any(PLACES),
    isLoose: below(10) === 0,
  }))
  const first = below(COUNTERS)
  const counters = below(3) === 0 ? [first, (first + 1 + below(COUNTERS - 1)) % COUNTERS] : []
  return { end, isolation: any(ISOLATIONS), events, counters }
}

/** The events that are there when the handler has ended as planned. */
export function keptOf({ end, events }: Plan): readonly Planned[] {
  return end === 'commit' ? events.filter(({ within }) => within !== 'savepoint that is rolled back') : []
}
