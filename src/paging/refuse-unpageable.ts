import type { Find, Join } from '../db/statements/find.js'
import { BootError } from '../core/boot-error.js'
import { shown } from '../core/options.js'

/** @throws BootError for a value that `select` and `sql` did not make, with what to write instead. */
export function requireStatement(value: unknown): void {
  if (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    (value.kind === 'select' || value.kind === 'sql')
  )
    return
  const name = typeof value === 'function' && value.name ? value.name : 'Hero'
  throw new BootError(`paginate(): got ${shown(value)}, which is not a statement. Write paginate(select(${name})).`)
}

/** @throws BootError for a statement whose rows cannot be divided into pages, with what to write instead. */
export function refuseUnpageable({ model, options, joins }: Find): void {
  const isGiven = (name: string) => Reflect.get(options, name) !== undefined
  if (isGiven('group') || isGiven('having'))
    throw new BootError(
      `paginate(select(${model.name}, { group })): grouped rows are not rows of the model, and COUNT returns another number. ` +
        'Write raw SQL: paginate(sql`SELECT team, count(*) AS heroes FROM hero GROUP BY team ORDER BY team`).',
    )
  for (const name of ['limit', 'offset'])
    if (isGiven(name) && Reflect.get(options, name) !== null)
      throw new BootError(
        `paginate(select(${model.name}, { ${name} })): the request decides where a page begins and ends. Remove ${name}; ` +
          'set the size of pages with newPagination({ defaultPageSize, maxPageSize }).',
      )
  for (const { path, option } of allJoins(joins))
    for (const name of ['right', 'or'])
      if (Reflect.get(option, name) === true)
        throw new BootError(
          `paginate(select(${model.name})): the include of ${path.join('.')} with { ${name}: true } joins rows of ${model.name} to any number of others, ` +
            `or returns rows without one: the result is not a list of ${model.name}. Remove ${name}, or write raw SQL: paginate(sql\`SELECT ...\`).`,
        )
}

function allJoins(joins: readonly Join[]): Join[] {
  return joins.flatMap((join) => [join, ...allJoins(join.joins)])
}
