import { escapeDollars } from '../sequelize/quote.js'
import type { Attributes, FindOptions, Model, ModelStatic } from 'sequelize'

/** A query for models; made by {@link select}. */
export interface Select<M extends Model> {
  readonly kind: 'select'
  readonly model: ModelStatic<M>
  readonly options: FindOptions<Attributes<M>>
}

/** A text with its values apart; made by {@link sql}. `Row` is what each row of the result is. */
export interface Sql<Row = Record<string, unknown>> {
  readonly kind: 'sql'
  readonly texts: readonly string[]
  readonly values: readonly unknown[]
  /** Whether the texts have values in them that are not the program's own. */
  readonly varies?: boolean
  /** Only for the compiler. */
  readonly row?: Row
}

/**
 * A statement for a session or a paginator: all rows of a model, or those that Sequelize's find options say.
 *
 * @example
 * select(Hero, { where: { age: { [Op.gte]: 30 } }, order: [['name', 'ASC']], include: [Team] })
 */
export function select<M extends Model>(model: ModelStatic<M>, options: FindOptions<Attributes<M>> = {}): Select<M> {
  return { kind: 'select', model, options }
}

/**
 * A statement as text, for results of any shape. What stands in `${}` is sent apart from the text, never put into it;
 * another `sql` text may stand there too.
 *
 * @throws TypeError for a value that is undefined.
 * @example
 * sql<{ team: string; heroes: number }>`SELECT team, count(*) AS heroes FROM hero WHERE age > ${age} GROUP BY team`
 */
export function sql<Row = Record<string, unknown>>(
  texts: TemplateStringsArray,
  ...values: readonly unknown[]
): Sql<Row> {
  const flatTexts = [texts[0] as string] // a template has one text more than values
  const flatValues: unknown[] = []
  let varies = false
  for (const [index, value] of values.entries()) {
    const after = texts[index + 1] as string
    if (isSql(value)) {
      appendText(flatTexts, value.texts[0] as string)
      flatTexts.push(...value.texts.slice(1))
      flatValues.push(...value.values)
      varies ||= value.varies === true
      appendText(flatTexts, after)
    } else {
      if (value === undefined)
        throw new TypeError(
          `sql: the value after '${(texts[index] as string).trim().slice(-40)}' is undefined. Write null for NULL.`,
        )
      flatTexts.push(after)
      flatValues.push(value)
    }
  }
  return { kind: 'sql', texts: flatTexts, values: flatValues, ...(varies ? { varies } : {}) }
}

function isSql(value: unknown): value is Sql {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'sql'
}

function appendText(texts: string[], more: string): void {
  texts[texts.length - 1] += more
}

/** The text with Sequelize's placeholders, and the values to bind. A `$` of the text itself stays one. */
export function toBound<Row>({ texts, values }: Sql<Row>): { readonly text: string; readonly bind: unknown[] } {
  return { text: toNumbered({ kind: 'sql', texts: texts.map(escapeDollars), values }), bind: [...values] }
}

/** The text with numbered placeholders, as PostgreSQL itself takes them: `$1`, `$2`. */
export function toNumbered<Row>({ texts: [first = '', ...rest] }: Sql<Row>): string {
  return rest.reduce((text, next, index) => `${text}$${index + 1}${next}`, first)
}

/** A piece of SQL that the program made, to stand in a {@link sql} text. */
export function rawSql(text: string): Sql {
  return { kind: 'sql', texts: [text], values: [], varies: true }
}
