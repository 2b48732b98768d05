import { type FieldDescription, type ParseField, type QueryInternals, Result } from '../drivers/pg.js'

/*
 * pg builds each row in code that all statements share, which V8 cannot optimize. Here a function is generated for each list of columns; the rows are
 * the same.
 */

type Columns = readonly (string | null)[]
type BuildRow = (columns: Columns, parsers: readonly ParseField[]) => object

/** How many lists of columns are known at a time. A program has few. */
const MAX_LISTS = 500

const builders = new Map<string, BuildRow>()

/** Undefined for columns that pg itself must build: an object has no own property of this name unless it is defined. */
function builderOf(fields: readonly FieldDescription[]): BuildRow | undefined {
  let key = ''
  for (const { name, format } of fields) {
    if (name === '__proto__' || format === 'binary') return undefined
    key += `${name}\0` // which no name in PostgreSQL contains
  }
  const known = builders.get(key)
  if (known) return known
  if (builders.size >= MAX_LISTS) builders.clear()
  const made = newBuilder(fields)
  builders.set(key, made)
  return made
}

function newBuilder(fields: readonly FieldDescription[]): BuildRow {
  const values = fields.map(
    ({ name }, index) =>
      `${JSON.stringify(name)}: columns[${index}] === null ? null : parsers[${index}](columns[${index}])`,
  )
  // Only names of columns come from the program, as string literals.
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval
  return new Function('columns', 'parsers', `return { ${values.join(', ')} }`) as BuildRow
}

/** The columns of a statement, and the function that builds its rows. */
export interface ResultColumns {
  readonly fields: readonly FieldDescription[]
  readonly build: BuildRow | undefined
}

export class GeneratedResult extends Result {
  #build: BuildRow | undefined

  /** The columns of the rows that follow. */
  get columns(): ResultColumns {
    return { fields: this.fields, build: this.#build }
  }

  set columns({ fields, build }: ResultColumns) {
    this.#build = build
    if (build) {
      this.fields = fields
      const parsers: ParseField[] = []
      for (const { dataTypeID, format } of fields) parsers.push(this._types.getTypeParser(dataTypeID, format))
      this._parsers = parsers
    } else super.addFields(fields)
  }

  override addFields(fields: readonly FieldDescription[]): void {
    this.columns = { fields, build: builderOf(fields) }
  }

  override parseRow(columns: Columns): object {
    return this.#build ? this.#build(columns, this._parsers) : super.parseRow(columns)
  }
}

/** Lets the rows of a query be built by generated code. */
export function generateRows(query: QueryInternals): QueryInternals {
  query._result = query._results = new GeneratedResult()
  return query
}
