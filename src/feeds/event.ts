import { BootError } from '../core/boot-error.js'
import { checkOptions, fitting, type OptionChecks, storedName } from '../core/option-checks.js'
import { refuseMissingCall } from '../core/options.js'
import { MetadataKey } from '../di/metadata.js'
import { type Constructor, isConstructor } from '../di/token.js'
import { type StoredData, storedData } from '../schema/stored-data.js'
import { InvalidEventData, UnreadableEventData } from './errors.js'
import { MAX_DATA } from './tables.js'

/** The options of `@Event(type, options)`. */
export interface EventOptions {
  /**
   * `commit`: the events of a topic are in the order of their commits, which are made one after the other. `none`: they are in no order, and on PostgreSQL do not
   * wait for each other, as they do on MySQL and MariaDB; they can be relayed and start jobs, and cannot be followed. Default `commit`.
   */
  readonly order?: 'commit' | 'none'
}

/** An event that a class declares. */
export interface EventDeclaration {
  readonly class: Constructor
  /** `hero.saved` */
  readonly type: string
  /** The part of the type before the first dot. */
  readonly aggregate: string
  readonly isOrdered: boolean
  readonly data: StoredData
}

const checkType = storedName("'hero.saved'")

const OPTIONS: OptionChecks<EventOptions> = {
  order: fitting((value) => value === 'commit' || value === 'none', "'commit' or 'none'"),
}

/** Names of the streams themselves. */
const RESERVED = ['message', 'open', 'error', 'reset', 'stale']

const events = new MetadataKey<EventDeclaration>()

/**
 * A class whose `@Field()` properties are the data of an event: they are what is stored, and sent, and what the OpenAPI document shows.
 *
 * @param type identifies the event in the table and in streams: it stays the same when the class is renamed. Letters, digits, and `_ . : -`, at most 100.
 * @throws BootError for a type or options that are wrong.
 * @example
 * @Event('hero.saved')
 * export class HeroSaved {
 *   @Field({ type: 'integer' }) id!: number
 *   @Field() name!: string
 * }
 */
export function Event(type: string, options: EventOptions = {}): (target: Constructor) => void {
  refuseMissingCall(`@Event('hero.saved')`, arguments)
  checkType(type, '@Event()')
  if (RESERVED.includes(type))
    throw new BootError(`@Event('${type}'): streams of events use this name. Choose another.`)
  checkOptions(`@Event('${type}')`, options, OPTIONS)
  const { order = 'commit' } = options
  return (target) => {
    let data: StoredData | undefined
    events.write(target, {
      class: target,
      type,
      aggregate: type.split('.', 1)[0] ?? type,
      isOrdered: order === 'commit',
      // The fields are not declared yet where decorators run from the class to its members.
      get data() {
        return (data ??= dataOf(target, type))
      },
    })
  }
}

function dataOf(target: Constructor, type: string): StoredData {
  return storedData(target, {
    place: target.name,
    name: 'data',
    of: 'an event',
    direction: 'output',
    most: MAX_DATA,
    instead: 'publish the id of a row that has the rest',
    invalid: (issues, options) => new InvalidEventData(type, issues, options),
    unreadable: (issues) => new UnreadableEventData(type, issues),
  })
}

/** @throws TypeError for a class without `@Event()`. */
export function eventOf(type: unknown, place: string): EventDeclaration {
  const found = isConstructor(type) ? events.own(type) : undefined
  if (found) return found
  const name = isConstructor(type) ? type.name : String(type)
  throw new TypeError(`${place}: ${name} is not an event. Put @Event('hero.saved') on its class.`)
}
