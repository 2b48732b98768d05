import type { Attributes, FindOptions, Model, ModelStatic } from 'sequelize'
import { checkOptions, flag, type OptionChecks } from '../core/option-checks.js'
import { hasVersion, keyVersion } from '../db/models/row-version.js'
import { currentSession, Session } from '../db/session/session.js'
import type { Key } from '../db/statements/find-by-key.js'
import { provideItself } from '../di/provider.js'
import type { Constructor } from '../di/token.js'
import { HttpError } from '../http/errors.js'
import { inputDependency } from '../http/input/parameters.js'
import { parseEntityTags } from '../http/output/entity-tag.js'
import { documentRefusals } from '../http/routing/refusals.js'

/** The options of `newIfMatch(options)`. */
export interface IfMatchOptions {
  /** Whether a request without `If-Match` is a 428. Default: true. */
  readonly required?: boolean
}

const OPTIONS: OptionChecks<IfMatchOptions> = { required: flag }

/**
 * The header `If-Match` of a request that changes a row: the change is made only if the row still has the version that the client has read. Rows are
 * those of models with `version: true`; they stay locked until the transaction ends, and each UPDATE has the version in its WHERE.
 *
 * A request without the header is a 428, a changed row a 412 with its present ETag. A handler that succeeds without having looked at the row of
 * the condition is a 500, and rolled back.
 *
 * @example
 * @Patch('/:hero_id', Item.of(Hero, { etag: true }))
 * async change(hero_id: number, changes: HeroChanges, ifMatch: IfMatch) {
 *   return { data: (await ifMatch.update(Hero, hero_id, changes)) ?? notFound('Hero not found') }
 * }
 */
export class IfMatch {
  readonly #header: string | undefined
  readonly #noneMatch: string | undefined
  readonly #session: Session
  #isUsed = false
  #isMissing = false

  /** @internal Write a parameter of type IfMatch. */
  constructor(session: Session, header: string | undefined, noneMatch: string | undefined) {
    this.#session = session
    this.#header = header
    this.#noneMatch = noneMatch
  }

  /** The version that the client has read; undefined without the header, and if it is not the tag of one version. */
  get version(): number | undefined {
    this.#isUsed = true
    const [tag, ...others] = this.#header === undefined ? [] : parseEntityTags(this.#header)
    const [, digits] = /^"(\d{1,15})[-"]/.exec(tag ?? '') ?? []
    return digits === undefined || others.length > 0 ? undefined : Number(digits)
  }

  /**
   * The row with this primary key, locked; null if there is none.
   *
   * @param options read the row once more, with these, after the check.
   * @throws HttpError with 412 if the row has changed.
   */
  async get<M extends Model>(
    model: ModelStatic<M>,
    key: Key<M>,
    options?: Omit<FindOptions<Attributes<M>>, 'where'>,
  ): Promise<M | null> {
    const session = (model.sequelize && currentSession(model.sequelize)) ?? this.#session
    const row = await session.get(model, key, { lock: true })
    this.#isUsed = true
    this.#isMissing = row === null
    if (!row) return null
    this.check(row)
    return options ? session.get(model, key, options) : row
  }

  /**
   * Changes the row with this primary key, and returns it; null if there is none.
   *
   * @throws HttpError with 412 if the row has changed.
   */
  async update<M extends Model>(
    model: ModelStatic<M>,
    key: Key<M>,
    changes: Partial<Attributes<M>>,
  ): Promise<M | null> {
    const row = await this.get(model, key)
    return row && row.update(changes)
  }

  /**
   * Deletes the row with this primary key. Returns false if there is none.
   *
   * @throws HttpError with 412 if the row has changed.
   */
  async delete<M extends Model>(model: ModelStatic<M>, key: Key<M>): Promise<boolean> {
    const row = await this.get(model, key)
    await row?.destroy()
    return row !== null
  }

  /**
   * Returns the row, which must have been read with a lock, as {@link get} does.
   *
   * @throws HttpError with 412 if it has another version. TypeError if its model has no version.
   */
  check<M extends Model>(row: M): M {
    this.#isUsed = true
    const found = keyVersion(row)
    if (found === undefined)
      throw new TypeError(
        `IfMatch: ${row.constructor.name} has no version. Write @Table({ version: true }), and add the column \`version\`, an integer that is not null with the default 0, by a migration; or read it and the primary key, if \`attributes\` leaves them out.`,
      )
    if (this.#header !== undefined && !matches(this.#header, row)) throw changed(found)
    if (this.#noneMatch !== undefined && matches(this.#noneMatch.replaceAll('W/', ''), row)) throw exists(found)
    return row
  }

  /** @internal Called when the handler has succeeded. */
  assertUsed(): void {
    if (this.#header !== undefined && this.#isMissing) throw changed()
    if (this.#isUsed || (this.#header ?? this.#noneMatch) === undefined) return
    throw new TypeError(
      'A handler that injects IfMatch has succeeded without using it, so that the condition of the client was ignored. Write ifMatch.update(Hero, id, changes), ifMatch.delete(Hero, id) or ifMatch.get(Hero, id).',
    )
  }
}

// A weak tag never matches: RFC 9110, 13.1.1.
function matches(header: string, row: Model): boolean {
  const tags = parseEntityTags(header)
  return tags === '*' || tags.some((tag) => tag.startsWith('"') && hasVersion(row, tag.slice(1, -1)))
}

function changed(version?: string): HttpError {
  const headers = version === undefined ? {} : { etag: `"${version}"` }
  return new HttpError(412, 'It has changed since it was read; read it again.', { headers })
}

function exists(version: string): HttpError {
  return new HttpError(412, 'It exists already.', { headers: { etag: `"${version}"` } })
}

/**
 * A class as {@link IfMatch}, with options.
 *
 * @throws BootError for an unknown option.
 * @example
 * class MayMatch extends newIfMatch({ required: false }) {}
 * // change(hero_id: number, changes: HeroChanges, ifMatch: MayMatch) { ... }
 */
export function newIfMatch(options: IfMatchOptions = {}): Constructor<IfMatch> {
  checkOptions('newIfMatch()', options, OPTIONS)
  class OwnIfMatch extends IfMatch {}
  provideIfMatch(OwnIfMatch, options.required ?? true)
  return OwnIfMatch
}

const HEADER = {
  name: 'if-match',
  type: 'string',
  optional: true,
  description: 'The ETag that the client has read: the change is made only if it is still the same.',
} as const

/** Of changes that need no If-Match, such as a PUT that creates. */
const NONE_MATCH = {
  name: 'if-none-match',
  type: 'string',
  optional: true,
  description: '`*`: the change is made only if there is none yet.',
} as const

function provideIfMatch(token: typeof IfMatch, required: boolean): void {
  provideItself(token, {
    kind: 'managed',
    dependencies: [
      { kind: 'token', token: Session },
      inputDependency('header', { ...HEADER, demanded: required }),
      ...(required ? [] : [inputDependency('header', NONE_MATCH)]),
    ],
    around: async (use, session: Session, header: string | undefined, noneMatch?: string) => {
      if (required && header === undefined)
        throw new HttpError(428, 'Send the header If-Match with the ETag that you have read.')
      const ifMatch = new IfMatch(session, header, noneMatch)
      const result = await use(ifMatch)
      ifMatch.assertUsed()
      return result
    },
  })
  const stale = {
    description: 'It has changed since it was read; the header ETag has its current version',
    headers: { ETag: 'The current version; missing if the row no longer exists.' },
  }
  documentRefusals(token, { 412: stale, ...(required ? { 428: 'The header If-Match is missing' } : {}) })
}

provideIfMatch(IfMatch, true)
