import { escapeDollars } from '../sequelize/quote.js'
import type { Attributes, FindOptions, Model, ModelStatic, WhereOptions } from 'sequelize'
import type { CheckedWhere } from './checked-where.js'

/** A query for models; made by {@link select}. */
export interface Select<M extends Model> {
  readonly kind: 'select'
  readonly model: ModelStatic<M>
  readonly options: FindOptions<Attributes<M>>
}

/** Raw SQL with its values; made by {@link sql}. `Row` is the type of each row of the result. */
export interface Sql<Row = Record<string, unknown>> {
  readonly kind: 'sql'
  /** The SQL before, between and after the values. */
  readonly texts: readonly string[]
  readonly values: readonly unknown[]
  /** Whether the SQL differs from call to call, so that it is not prepared on the connection. */
  readonly varies?: boolean
  /** Whether it is one of this package about a table of its own: not a repetition of the program. */
  readonly isOwn?: true
  /** Never set: keeps the type of the rows. */
  readonly row?: Row
}

/**
 * A statement for a session or a paginator: all rows of a model, or those that match Sequelize's find options. The compiler checks the values of `where`: an
 * attribute that is a number, a boolean or a date is compared with its own kind.
 *
 * @example
 * select(Hero, { where: { age: { [Op.gte]: 30 } }, order: [['name', 'ASC']], include: [Team] })
 */
export function select<M extends Model, W extends WhereOptions<Attributes<M>> = WhereOptions<Attributes<M>>>(
  model: ModelStatic<M>,
  options?: Omit<FindOptions<Attributes<M>>, 'where'> & { where?: W & CheckedWhere<W, Attributes<M>> },
): Select<M>
export function select<M extends Model>(model: ModelStatic<M>, options: FindOptions<Attributes<M>> = {}): Select<M> {
  return { kind: 'select', model, options }
}

/**
 * Raw SQL, for results of any type. A value in `${}` is sent as a parameter and never becomes a part of the SQL. Another sql`...` in `${}` does.
 *
 * @throws TypeError for a value that is undefined.
 * @example
 * sql<{ team: string; heroes: number }>`SELECT team, count(*) AS heroes FROM hero WHERE age > ${age} GROUP BY team`
 */
export function sql<Row = Record<string, unknown>>(
  texts: TemplateStringsArray,
  ...values: readonly unknown[]
): Sql<Row> {
  // A template has one string more than values: those at [0] and [index + 1] always exist.
  const flatTexts = [texts[0] ?? '']
  const flatValues: unknown[] = []
  let varies = false
  for (const [index, value] of values.entries()) {
    const after = texts[index + 1] ?? ''
    if (isSql(value)) {
      appendText(flatTexts, value.texts[0] ?? '')
      flatTexts.push(...value.texts.slice(1))
      flatValues.push(...value.values)
      varies ||= value.varies === true
      appendText(flatTexts, after)
    } else {
      if (value === undefined)
        throw new TypeError(
          `sql: the value after '${(texts[index] ?? '').trim().slice(-40)}' is undefined. Write null for NULL.`,
        )
      flatTexts.push(after)
      flatValues.push(value)
    }
  }
  return { kind: 'sql', texts: flatTexts, values: flatValues, ...(varies ? { varies } : {}) }
}

/** Whether a value is what {@link select} or {@link sql} returns. Programs without a type check may pass anything. */
export function isStatement(value: unknown): value is Select<Model> | Sql<unknown> {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false
  return value.kind === 'select' || value.kind === 'sql'
}

function isSql(value: unknown): value is Sql {
  return isStatement(value) && value.kind === 'sql'
}

function appendText(texts: string[], more: string): void {
  texts[texts.length - 1] += more
}

/** The SQL with Sequelize's placeholders, and the values to bind. A `$` in the SQL itself is escaped. */
export function toBound<Row>({ texts, values }: Sql<Row>): { readonly sql: string; readonly bind: unknown[] } {
  return { sql: toNumbered({ kind: 'sql', texts: texts.map(escapeDollars), values }), bind: [...values] }
}

/** The SQL with the placeholders of the driver. */
export function toPlaceholders<Row>(statement: Sql<Row>, { placeholder }: { readonly placeholder?: '?' }): string {
  return placeholder === undefined ? toNumbered(statement) : statement.texts.join(placeholder)
}

/** The SQL with numbered placeholders: `$1`, `$2`. */
export function toNumbered<Row>({ texts: [first = '', ...rest] }: Sql<Row>): string {
  return rest.reduce((before, after, index) => `${before}$${index + 1}${after}`, first)
}

/** A piece of SQL to be inserted into a {@link sql} statement as it is. It must not contain values of clients. */
export function rawSql(fragment: string): Sql {
  return { kind: 'sql', texts: [fragment], values: [], varies: true }
}
